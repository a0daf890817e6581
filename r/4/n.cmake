# Sources of n, written by arenac.
set(N_SOURCES "${CMAKE_CURRENT_LIST_DIR}/n.c" "${CMAKE_CURRENT_LIST_DIR}/n_weights.S")
set(N_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}")
