"""How plain Python becomes machine code: kernels, the rules they call, their cache, threads."""
