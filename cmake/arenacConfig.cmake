# find_package(arenac): the tool as arenac::arenac, and the function arenac_add_model.
include(${CMAKE_CURRENT_LIST_DIR}/arenacTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/arenac_add_model.cmake)
