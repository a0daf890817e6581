// What the network takes. {{name}}.h says how to run it.
#include <{{name}}.h>

void setup() {
  Serial.begin(115200);
  Serial.print("bytes of arena: ");
  Serial.println({{arena}}UL);
}

void loop() {}
