/* The planner from another program: cc main.c $(pkg-config --cflags --libs arenac_plan) */
#include <arenac_plan.h>
#include <stdio.h>

int main(void) {
  const arenac_buffer buffers[] = {
      {.size = 8, .begin = 0, .end = 2},
      {.size = 4, .begin = 2, .end = 5},
      {.size = 4, .begin = 1, .end = 3},
  };
  const arenac_problem problem = {.buffers = buffers, .buffer_count = 3};
  arenac_placement placements[3];
  arenac_pool_use use;
  char message[256];
  if (arenac_plan(&problem, NULL, placements, &use, message, sizeof message) != ARENAC_DONE) {
    puts(message);
    return 1;
  }
  for (int k = 0; k < 3; ++k) printf("buffer %d at %ld\n", k, (long)placements[k].offset);
  printf("%ld bytes, %s\n", (long)use.size,
         use.size == use.lower_bound ? "no placement is smaller" : "there may be a smaller placement");
  return 0;
}
