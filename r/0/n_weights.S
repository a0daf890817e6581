/* Constants of n: the bytes of n_weights.bin, which must lie in a folder given by -I. */
    .section .rodata.n_weights, "a"
    .globl n_weights
    .balign 64
n_weights:
    .incbin "n_weights.bin"
#ifdef __ELF__
    .size n_weights, . - n_weights
#endif
#if defined(__linux__) && defined(__ELF__)
    .section .note.GNU-stack, ""
#endif
