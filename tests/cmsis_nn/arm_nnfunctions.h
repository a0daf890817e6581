/* A stand-in for CMSIS-NN's header of this name: the functions that arenac calls and the structs that they
   take, written from the library's documentation. */
#ifndef ARENAC_TESTS_ARM_NNFUNCTIONS_H
#define ARENAC_TESTS_ARM_NNFUNCTIONS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { ARM_CMSIS_NN_SUCCESS = 0, ARM_CMSIS_NN_ARG_ERROR = -1 } arm_cmsis_nn_status;

typedef struct {
  int32_t w, h;
} cmsis_nn_tile;

typedef struct {
  void* buf;
  int32_t size;
} cmsis_nn_context;

typedef struct {
  int32_t n, h, w, c;
} cmsis_nn_dims;

typedef struct {
  int32_t *multiplier, *shift;
} cmsis_nn_per_channel_quant_params;

typedef struct {
  int32_t multiplier, shift;
} cmsis_nn_per_tensor_quant_params;

typedef struct {
  int32_t min, max;
} cmsis_nn_activation;

typedef struct {
  int32_t input_offset, output_offset;
  cmsis_nn_tile stride, padding, dilation;
  cmsis_nn_activation activation;
} cmsis_nn_conv_params;

typedef struct {
  int32_t input_offset, output_offset, ch_mult;
  cmsis_nn_tile stride, padding, dilation;
  cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;

typedef struct {
  int32_t input_offset, filter_offset, output_offset;
  cmsis_nn_activation activation;
} cmsis_nn_fc_params;

arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context* ctx, const cmsis_nn_conv_params* params,
                                            const cmsis_nn_per_channel_quant_params* quant,
                                            const cmsis_nn_dims* input_dims, const int8_t* input,
                                            const cmsis_nn_dims* filter_dims, const int8_t* filter,
                                            const cmsis_nn_dims* bias_dims, const int32_t* bias,
                                            const cmsis_nn_dims* output_dims, int8_t* output);
int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params* params,
                                                const cmsis_nn_dims* input_dims,
                                                const cmsis_nn_dims* filter_dims,
                                                const cmsis_nn_dims* output_dims);

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(const cmsis_nn_context* ctx,
                                                  const cmsis_nn_dw_conv_params* params,
                                                  const cmsis_nn_per_channel_quant_params* quant,
                                                  const cmsis_nn_dims* input_dims, const int8_t* input,
                                                  const cmsis_nn_dims* filter_dims, const int8_t* filter,
                                                  const cmsis_nn_dims* bias_dims, const int32_t* bias,
                                                  const cmsis_nn_dims* output_dims, int8_t* output);
int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(const cmsis_nn_dw_conv_params* params,
                                                      const cmsis_nn_dims* input_dims,
                                                      const cmsis_nn_dims* filter_dims,
                                                      const cmsis_nn_dims* output_dims);

arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context* ctx, const cmsis_nn_fc_params* params,
                                           const cmsis_nn_per_tensor_quant_params* quant,
                                           const cmsis_nn_dims* input_dims, const int8_t* input,
                                           const cmsis_nn_dims* filter_dims, const int8_t* filter,
                                           const cmsis_nn_dims* bias_dims, const int32_t* bias,
                                           const cmsis_nn_dims* output_dims, int8_t* output);
int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims* filter_dims);

#ifdef __cplusplus
}
#endif

#endif
