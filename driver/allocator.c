// What jemalloc reads when it starts. By default it gives unused memory back to the system after a while;
// searches take and return large blocks thousands of times, and each time the system would clear every page
// of them.
extern const char* malloc_conf;
const char* malloc_conf = "dirty_decay_ms:-1,muzzy_decay_ms:-1";
