/* The stand-in's functions: loops over what the documentation says. Scratch is overwritten before anything is
   read, so that what else lies there is seen to be lost.

   Products are rounded as the library does: to a multiple of 2^-31 * 2^-shift by one addition, then by a
   shift, halves away from zero. With -DONE_ROUNDING they are rounded as arenac does, as one float32.

   With Helium, images of one row are refused that the library refuses or computes otherwise. */
#include "tests/cmsis_nn/arm_nnfunctions.h"

#include <math.h>
#include <string.h>

#ifndef MORE_SCRATCH /* than the documentation says */
#define MORE_SCRATCH 0
#endif

/* Which of the library's sources it stands for: those of plain C, or with DSP instructions, or with Helium.
 */
#if defined(PLAIN_CORE) || (defined(__arm__) && !defined(__ARM_FEATURE_DSP))
enum { PLAIN = 1 };
#else
enum { PLAIN = 0 };
#endif
#if defined(ARM_MATH_MVEI) || (defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1))
enum { HELIUM = 1 };
#else
enum { HELIUM = 0 };
#endif

static int32_t requantized(int32_t sum, int32_t multiplier, int32_t shift) {
#ifdef ONE_ROUNDING
  return (int32_t)nearbyintf((float)sum * (float)ldexp((double)multiplier, shift - 31));
#else
  const int64_t part = ((int64_t)sum * multiplier + (1 << 30)) >> 31;
  const int64_t half = shift < 0 ? (int64_t)1 << (-shift - 1) : 0;
  return (int32_t)((part + half - (part < 0 && shift < 0)) >> -shift);
#endif
}

static int8_t result(int32_t sum, int32_t multiplier, int32_t shift, int32_t offset,
                     const cmsis_nn_activation* activation) {
  const int32_t y = requantized(sum, multiplier, shift) + offset;
  return (int8_t)(y < activation->min ? activation->min : y > activation->max ? activation->max : y);
}

/* A convolution of what takes all channels, or each its own. */
typedef struct {
  int32_t input_offset, output_offset;
  cmsis_nn_tile stride, padding, dilation;
  const cmsis_nn_activation* activation;
  int depthwise;
} Window;

static int32_t sum_of(const Window* w, const int32_t at[4], const cmsis_nn_dims* x, const int8_t* input,
                      const cmsis_nn_dims* f, const int8_t* filter) {
  int32_t sum = 0;
  for (int32_t ky = 0; ky < f->h; ++ky)
    for (int32_t kx = 0; kx < f->w; ++kx) {
      const int32_t y = at[1] * w->stride.h + ky * w->dilation.h - w->padding.h;
      const int32_t column = at[2] * w->stride.w + kx * w->dilation.w - w->padding.w;
      if (y < 0 || y >= x->h || column < 0 || column >= x->w) continue;
      const int8_t* pixel = input + ((at[0] * x->h + y) * x->w + column) * x->c;
      if (w->depthwise) {
        sum += (pixel[at[3]] + w->input_offset) * filter[(ky * f->w + kx) * f->c + at[3]];
      } else {
        for (int32_t c = 0; c < x->c; ++c)
          sum += (pixel[c] + w->input_offset) * filter[((at[3] * f->h + ky) * f->w + kx) * f->c + c];
      }
    }
  return sum;
}

static void convolve(const Window* w, const cmsis_nn_per_channel_quant_params* quant, const cmsis_nn_dims* x,
                     const int8_t* input, const cmsis_nn_dims* f, const int8_t* filter, const int32_t* bias,
                     const cmsis_nn_dims* out, int8_t* output) {
  int32_t at[4];
  for (at[0] = 0; at[0] < out->n; ++at[0])
    for (at[1] = 0; at[1] < out->h; ++at[1])
      for (at[2] = 0; at[2] < out->w; ++at[2])
        for (at[3] = 0; at[3] < out->c; ++at[3])
          *output++ = result(bias[at[3]] + sum_of(w, at, x, input, f, filter), quant->multiplier[at[3]],
                             quant->shift[at[3]], w->output_offset, w->activation);
}

static int lacks(const cmsis_nn_context* ctx, int32_t needed) {
  if (needed > ctx->size || (needed > 0 && !ctx->buf)) return 1;
  if (ctx->size > 0) memset(ctx->buf, 0x5a, (size_t)ctx->size);
  return 0;
}

/* Images of one row go to arm_convolve_1_x_n_s8, which is right for windows padded alike at both ends or by
   one more at the right, and with a stride for those that are not padded. */
static int is_misread_row(const cmsis_nn_conv_params* params, const cmsis_nn_dims* x, const cmsis_nn_dims* f,
                          const cmsis_nn_dims* out) {
  const int32_t padding = (out->w - 1) * params->stride.w + f->w - x->w, left = params->padding.w;
  if (!HELIUM || x->h != 1 || f->h != 1 || f->w == 1 || params->dilation.w != 1) return 0;
  return (padding != 2 * left && padding != 2 * left + 1) || (params->stride.w > 1 && padding > 0);
}

arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context* ctx, const cmsis_nn_conv_params* params,
                                            const cmsis_nn_per_channel_quant_params* quant,
                                            const cmsis_nn_dims* input_dims, const int8_t* input,
                                            const cmsis_nn_dims* filter_dims, const int8_t* filter,
                                            const cmsis_nn_dims* bias_dims, const int32_t* bias,
                                            const cmsis_nn_dims* output_dims, int8_t* output) {
  const Window window = {params->input_offset,
                         params->output_offset,
                         params->stride,
                         params->padding,
                         params->dilation,
                         &params->activation,
                         0};
  if (lacks(ctx, arm_convolve_wrapper_s8_get_buffer_size(params, input_dims, filter_dims, output_dims)) ||
      filter_dims->n != output_dims->c || filter_dims->c != input_dims->c || bias_dims->c != output_dims->c ||
      input_dims->n != output_dims->n || is_misread_row(params, input_dims, filter_dims, output_dims))
    return ARM_CMSIS_NN_ARG_ERROR;
  convolve(&window, quant, input_dims, input, filter_dims, filter, bias, output_dims, output);
  return ARM_CMSIS_NN_SUCCESS;
}

int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params* params,
                                                const cmsis_nn_dims* input_dims,
                                                const cmsis_nn_dims* filter_dims,
                                                const cmsis_nn_dims* output_dims) {
  const int32_t column = filter_dims->h * filter_dims->w * input_dims->c;
  (void)output_dims;
  if (filter_dims->h == 1 && filter_dims->w == 1 && params->stride.h == 1 && params->stride.w == 1) return 0;
  return 4 * (HELIUM ? (column + 15) / 16 * 16 : (column + 3) / 4 * 4) + MORE_SCRATCH;
}

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(const cmsis_nn_context* ctx,
                                                  const cmsis_nn_dw_conv_params* params,
                                                  const cmsis_nn_per_channel_quant_params* quant,
                                                  const cmsis_nn_dims* input_dims, const int8_t* input,
                                                  const cmsis_nn_dims* filter_dims, const int8_t* filter,
                                                  const cmsis_nn_dims* bias_dims, const int32_t* bias,
                                                  const cmsis_nn_dims* output_dims, int8_t* output) {
  const Window window = {params->input_offset,
                         params->output_offset,
                         params->stride,
                         params->padding,
                         params->dilation,
                         &params->activation,
                         1};
  if (lacks(ctx,
            arm_depthwise_conv_wrapper_s8_get_buffer_size(params, input_dims, filter_dims, output_dims)) ||
      params->ch_mult != 1 || filter_dims->n != 1 || filter_dims->c != output_dims->c ||
      input_dims->c != output_dims->c || bias_dims->c != output_dims->c)
    return ARM_CMSIS_NN_ARG_ERROR;
  convolve(&window, quant, input_dims, input, filter_dims, filter, bias, output_dims, output);
  return ARM_CMSIS_NN_SUCCESS;
}

/* A window of all channels as int16, or with Helium four of 124 channels. */
int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(const cmsis_nn_dw_conv_params* params,
                                                      const cmsis_nn_dims* input_dims,
                                                      const cmsis_nn_dims* filter_dims,
                                                      const cmsis_nn_dims* output_dims) {
  (void)output_dims;
  if (PLAIN || input_dims->n != 1 || params->dilation.w != 1 || params->dilation.h != 1) return 0;
  if (HELIUM) return 4 * 124 * filter_dims->w * filter_dims->h;
  if (filter_dims->w == 3 && filter_dims->h == 3 && params->padding.h <= 1 && params->padding.w <= 1)
    return 0;
  return 2 * input_dims->c * filter_dims->w * filter_dims->h;
}

arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context* ctx, const cmsis_nn_fc_params* params,
                                           const cmsis_nn_per_tensor_quant_params* quant,
                                           const cmsis_nn_dims* input_dims, const int8_t* input,
                                           const cmsis_nn_dims* filter_dims, const int8_t* filter,
                                           const cmsis_nn_dims* bias_dims, const int32_t* bias,
                                           const cmsis_nn_dims* output_dims, int8_t* output) {
  const int32_t depth = filter_dims->n;
  if (lacks(ctx, arm_fully_connected_s8_get_buffer_size(filter_dims)) || params->filter_offset != 0 ||
      input_dims->h * input_dims->w * input_dims->c != depth || bias_dims->c != filter_dims->c)
    return ARM_CMSIS_NN_ARG_ERROR;
  for (int32_t n = 0; n < output_dims->n; ++n)
    for (int32_t m = 0; m < output_dims->c; ++m) {
      int32_t sum = bias[m];
      for (int32_t k = 0; k < depth; ++k)
        sum += (input[n * depth + k] + params->input_offset) * filter[m * depth + k];
      *output++ = result(sum, quant->multiplier, quant->shift, params->output_offset, &params->activation);
    }
  return ARM_CMSIS_NN_SUCCESS;
}

int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims* filter_dims) {
  return HELIUM ? 4 * filter_dims->c : 0;
}
