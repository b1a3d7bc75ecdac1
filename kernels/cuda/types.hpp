// The names of CUDA's handles without a CUDA header: the same redeclarations that the runtime's own headers
// make.
#pragma once

typedef struct CUstream_st* cudaStream_t;        // NOLINT(modernize-use-using)
typedef struct CUevent_st* cudaEvent_t;          // NOLINT(modernize-use-using)
typedef struct CUgraph_st* cudaGraph_t;          // NOLINT(modernize-use-using)
typedef struct CUgraphExec_st* cudaGraphExec_t;  // NOLINT(modernize-use-using)
typedef struct CUgraphNode_st* cudaGraphNode_t;  // NOLINT(modernize-use-using)
