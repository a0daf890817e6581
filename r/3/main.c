#include "n.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <string.h>
int main(){n_inputs in;n_outputs out;
{void*p=malloc(602112);memset(p,0,602112);in.gpu_0_data_0=p;}
{void*p=malloc(4000);memset(p,0,4000);out.gpu_0_softmax_1=p;}
n_invoke(&in,&out);double best=1e9;for(int i=0;i<30;i++){struct timespec a,b;clock_gettime(CLOCK_PROCESS_CPUTIME_ID,&a);n_invoke(&in,&out);clock_gettime(CLOCK_PROCESS_CPUTIME_ID,&b);double t=(b.tv_sec-a.tv_sec)*1e3+(b.tv_nsec-a.tv_nsec)/1e6;if(t<best)best=t;}printf("%.3f\n",best);}
