// Runs tiny_cnn on made-up inputs, once a second, and prints what comes out and how long it takes. tiny_cnn.h
// says what inputs and outputs mean: put those of a sensor in their place.
#include <tiny_cnn.h>

template <class T> static void make_up(T *all, size_t count) {
  for (size_t k = 0; k < count; ++k) all[k] = (T)(k % 2);
}
static inline void make_up(float *all, size_t count) {
  for (size_t k = 0; k < count; ++k) all[k] = (float)(k % 11) * 0.1f - 0.5f;
}

template <class T> static void print_one(T number) { Serial.print((long)number); }
static inline void print_one(float number) { Serial.print(number, 6); }
static inline void print_one(double number) { Serial.print(number, 6); }

template <class T> static void print_all(const char *name, const T *all, size_t count) {
  Serial.print("  ");
  Serial.print(name);
  Serial.print(":");
  for (size_t k = 0; k < count; ++k) {
    Serial.print(" ");
    print_one(all[k]);
  }
  Serial.println();
}

static float tiny_cnn_input_input_data[TINY_CNN_INPUT_INPUT_COUNT > 0 ? TINY_CNN_INPUT_INPUT_COUNT : 1];
static float tiny_cnn_output_probabilities_data[TINY_CNN_OUTPUT_PROBABILITIES_COUNT > 0 ? TINY_CNN_OUTPUT_PROBABILITIES_COUNT : 1];
static void run_tiny_cnn() {
  tiny_cnn_inputs in;
  tiny_cnn_outputs out;
  in.input = tiny_cnn_input_input_data;
  make_up(tiny_cnn_input_input_data, TINY_CNN_INPUT_INPUT_COUNT);
  out.probabilities = tiny_cnn_output_probabilities_data;
  const unsigned long begin = micros();
  const int status = tiny_cnn_invoke(&in, &out);
  const unsigned long took = micros() - begin;
  Serial.print("tiny_cnn: ");
  if (status != TINY_CNN_OK) {
    Serial.print("error ");
    Serial.println(status);
    return;
  }
  Serial.print(took);
  Serial.println(" microseconds");
  print_all("probabilities", tiny_cnn_output_probabilities_data, TINY_CNN_OUTPUT_PROBABILITIES_COUNT);
}

void setup() {
  Serial.begin(115200);
  Serial.print("bytes of arena: ");
  Serial.println(2368UL);
}

void loop() {
  run_tiny_cnn();
  delay(1000);
}
