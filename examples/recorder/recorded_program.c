/* A program that records its own calls: built against an installed Opwright (CMakeLists.txt beside this file).
 *
 *     recorded_program TRACE_FOLDER && opwright dump TRACE_FOLDER
 */
#include <opwright/capture.h>
#include <stdio.h>

static float scale(float value, float factor) {
  opwright_call* call = opwright_begin("example.scale"); /* NULL while nothing is recorded: all below takes that */
  opwright_arg(call, NULL);
  opwright_put_float(call, value);
  opwright_arg(call, "factor");
  opwright_put_float(call, factor);
  opwright_run(call);
  const float result = value * factor; /* the work itself */
  opwright_put_float(call, result);
  opwright_end(call);
  return result;
}

int main(int count, char** words) {
  char message[300];
  if (count != 2) {
    fprintf(stderr, "usage: recorded_program TRACE_FOLDER\n");
    return 2;
  }
  opwright_options options = OPWRIGHT_OPTIONS;
  options.folder = words[1];
  if (opwright_open(&options, message, sizeof message) != 0) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  float sum = 0;
  for (int i = 0; i < 3; ++i) sum += scale((float)i, 2.5F);
  opwright_close();
  printf("%.1f\n", sum);
  return 0;
}
