# arenac_add_model: a static library from an ONNX model.
#
#   find_package(arenac REQUIRED)
#   arenac_add_model(kws models/kws.onnx)
#   target_link_libraries(app PRIVATE kws)          # app.c: #include "kws.h"
#
#   arenac_add_model(TARGET MODEL.onnx
#                    [NAME sym]                     C identifier prefix; default: the model's file name
#                    [WEIGHTS c|incbin]             incbin: for megabytes of weights; the project enables ASM
#                    [OPTIONS option...])           more options of `arenac compile`: --ram 64K --dim batch=1
#
# The C is generated when TARGET is built, and again when the model, its external data or arenac itself changes.
# Generators: Ninja, Makefiles, and the others that add_custom_command(DEPFILE) supports.
function(arenac_add_model target model)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "NAME;WEIGHTS" "OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS OR ARG_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "arenac_add_model(${target}): cannot read ${ARG_UNPARSED_ARGUMENTS} ${ARG_KEYWORDS_MISSING_VALUES}; "
                        "the form is arenac_add_model(TARGET MODEL.onnx [NAME sym] [WEIGHTS c|incbin] [OPTIONS ...])")
  endif()
  cmake_path(ABSOLUTE_PATH model BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT ARG_NAME)
    cmake_path(GET model STEM LAST_ONLY stem)
    string(MAKE_C_IDENTIFIER "${stem}" ARG_NAME)
  endif()
  if(NOT ARG_WEIGHTS OR ARG_WEIGHTS STREQUAL "c")
    set(ARG_WEIGHTS c)
    set(weights ${ARG_NAME}_weights.c)
  elseif(ARG_WEIGHTS STREQUAL "incbin")
    set(weights ${ARG_NAME}_weights.S ${ARG_NAME}_weights.bin)
  else()
    message(FATAL_ERROR "arenac_add_model(${target}): WEIGHTS is c or incbin, not ${ARG_WEIGHTS}")
  endif()

  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${target}.arenac)
  set(sources ${ARG_NAME}.h ${ARG_NAME}.c ${weights})
  list(TRANSFORM sources PREPEND ${dir}/)
  add_custom_command(
    OUTPUT ${sources}
    COMMAND arenac::arenac compile ${model} -o ${dir} --name ${ARG_NAME} --weights ${ARG_WEIGHTS}
            --depfile ${dir}/${ARG_NAME}.d ${ARG_OPTIONS}
    DEPENDS ${model} arenac::arenac
    DEPFILE ${dir}/${ARG_NAME}.d
    COMMENT "arenac compile ${model}"
    VERBATIM)

  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${dir})
  set_target_properties(${target} PROPERTIES C_STANDARD 99 LINKER_LANGUAGE C)
  if(NOT MSVC)
    target_link_libraries(${target} PUBLIC m)
  endif()
endfunction()
