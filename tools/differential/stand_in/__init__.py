"""A CUDA device without memory for a PyTorch that has none: compiles cuda.cpp and loads it."""
import pathlib
import subprocess
import tempfile

import torch

HEADERS = pathlib.Path("/usr/include/torch/csrc/api/include")  # Debian's libtorch-dev


def load():
    if torch.version.cuda:
        raise RuntimeError("this PyTorch has a CUDA of its own: the stand-in needs one without")
    source = pathlib.Path(__file__).with_name("cuda.cpp")
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/cuda.so"
        subprocess.run(["g++", "-std=c++17", "-O0", "-shared", "-fPIC", f"-I{HEADERS}", source,
                        "-o", library, "-lc10", "-ltorch_cpu"], check=True)
        torch.ops.load_library(library)
    # What Python asks the driver before it believes in the device.
    torch.cuda._lazy_init = lambda: None
    torch.cuda.is_bf16_supported = lambda *args, **kwargs: True
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False
