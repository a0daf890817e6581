// Runs {{name}} on made-up inputs, once a second, and prints what comes out and how long it takes. {{name}}.h
// says what inputs and outputs mean: put those of a sensor in their place.
#include <{{name}}.h>

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
{{#models}}{{#runs}}

{{#inputs}}{{^placed}}
static {{type}} {{name}}[{{macro}}_COUNT > 0 ? {{macro}}_COUNT : 1];
{{/placed}}{{/inputs}}{{#outputs}}{{^placed}}
static {{type}} {{name}}[{{macro}}_COUNT > 0 ? {{macro}}_COUNT : 1];
{{/placed}}{{/outputs}}
static void run_{{model}}() {
{{#memory}}
  {{model}}_workspace memory;
{{#pools}}
  memory.{{member}} = {{model}}_static_{{pool}}();
{{/pools}}{{/memory}}{{#in}}
  {{model}}_inputs in;
{{/in}}{{#out}}
  {{model}}_outputs out;
{{/out}}{{#inputs}}{{#placed}}
  {{type}} *{{name}} = {{function}}(&memory);
{{/placed}}{{^placed}}
  in.{{member}} = {{name}};
{{/placed}}
  make_up({{name}}, {{macro}}_COUNT);
{{/inputs}}{{#outputs}}{{#placed}}
  {{type}} *{{name}} = {{function}}(&memory);
{{/placed}}{{^placed}}
  out.{{member}} = {{name}};
{{/placed}}{{/outputs}}
  const unsigned long begin = micros();
  const int status = {{model}}_invoke({{arguments}});
  const unsigned long took = micros() - begin;
  Serial.print("{{model}}: ");
  if (status != {{MODEL}}_OK) {
    Serial.print("error ");
    Serial.println(status);
    return;
  }
  Serial.print(took);
  Serial.println(" microseconds");
{{#outputs}}
  print_all("{{member}}", {{name}}, {{macro}}_COUNT);
{{/outputs}}
}
{{/runs}}{{/models}}

void setup() {
  Serial.begin(115200);
  Serial.print("bytes of arena: ");
  Serial.println({{arena}}UL);
{{#models}}{{#resets}}
  {{model}}_reset_static();
{{/resets}}{{/models}}
}

void loop() {
{{#models}}{{#runs}}
  run_{{model}}();
{{/runs}}{{^runs}}
  // {{model}} wants its rows or constants from you: {{model}}.h says how.
{{/runs}}{{/models}}
  delay(1000);
}
