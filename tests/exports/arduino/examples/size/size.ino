// What the network takes. tiny_cnn.h says how to run it.
#include <tiny_cnn.h>

void setup() {
  Serial.begin(115200);
  Serial.print("bytes of arena: ");
  Serial.println(2368UL);
}

void loop() {}
