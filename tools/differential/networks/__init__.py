"""The architectures by the names that scenarios use."""
from networks.cs336 import Cs336
from networks.gpt import Gpt
from networks.gpt2 import Gpt2
from networks.llama import Llama

ARCHITECTURES = {"gpt": Gpt, "gpt2": Gpt2, "llama": Llama, "cs336": Cs336}
