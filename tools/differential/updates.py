"""The optimizer step: PyTorch's own AdamW and SGD, mixed precision's copies around them, and two
later multi-tensor kernels written from their description."""
import math

import torch
from torch import nn

import framework


def make(config, parameters):
    kind = Mixed if config.precision == "bf16-mixed" else Direct
    return kind(parameters, lambda trained: _optimizer(config, trained), config.keep_gradients)


def _optimizer(config, parameters):
    kernel = config.optimizer_kernel
    if config.optimizer != "adamw":
        momentum = 0.9 if config.optimizer == "sgd-momentum" else 0.0
        return torch.optim.SGD(parameters, lr=1e-4, momentum=momentum,
                               foreach=kernel in ("foreach", "foreach2x"))
    if config.architecture == "cs336" and kernel == "single":
        return PlainAdamW(parameters)
    if kernel in ("single", "foreach"):
        return torch.optim.AdamW(parameters, lr=1e-4, foreach=kernel == "foreach")
    if framework.LATER:
        return torch.optim.AdamW(parameters, lr=1e-4, foreach=kernel == "foreach2x",
                                 fused=kernel == "fused")
    return LaterAdamW(parameters, fused=kernel == "fused")


class Direct:
    """The optimizer works on the model's own parameters."""

    def __init__(self, parameters, optimizer, keep_gradients):
        self.parameters = parameters
        self.optimizer = optimizer(parameters)
        self.keep = keep_gradients

    def step(self, watch):
        self.optimizer.step()

    def zero(self):
        clear(self.parameters, self.keep)

    def declare(self, watch):
        for parameter in self.parameters:
            watch.declare(parameter, "parameters")
        _declare_state(self.optimizer, watch)


class Mixed:
    """bf16 parameters; fp32 masters, moments and gradients for the update. Without `keep` a bf16
    gradient goes as soon as its fp32 copy is made, and the copy when the step is over."""

    def __init__(self, parameters, optimizer, keep_gradients):
        self.parameters = parameters
        self.masters = [nn.Parameter(p.detach().float()) for p in parameters]
        self.optimizer = optimizer(self.masters)
        self.keep = keep_gradients

    def step(self, watch):
        for low, master in zip(self.parameters, self.masters):
            if master.grad is not None:
                master.grad.copy_(low.grad)
            else:
                master.grad = low.grad.float()
                watch.declare(master.grad, "gradients")
            if not self.keep:
                low.grad = None
        self.optimizer.step()
        with torch.no_grad():
            for low, master in zip(self.parameters, self.masters):
                low.copy_(master)

    def zero(self):
        clear(self.parameters, self.keep)
        if not self.keep:
            clear(self.masters, False)

    def declare(self, watch):
        for low, master in zip(self.parameters, self.masters):
            watch.declare(low, "parameters")
            watch.declare(master, "master_weights")
        _declare_state(self.optimizer, watch)


def clear(parameters, keep):
    for parameter in parameters:
        if not keep:
            parameter.grad = None
        elif parameter.grad is not None:
            parameter.grad.zero_()


def _declare_state(optimizer, watch):
    for state in optimizer.state.values():
        for value in state.values():
            if isinstance(value, torch.Tensor):
                watch.declare(value, "optimizer_state", isinstance(optimizer, PlainAdamW))


class LaterAdamW:
    """Recalled: AdamW of 2.x. Multi-tensor: one list of denominators, epsilon added in place
    (torch/optim/adam.py, _multi_tensor_adam); fused: no temporary at all (_fused_adamw_)."""

    def __init__(self, parameters, fused):
        self.trained = parameters
        self.fused = fused
        self.state = {}

    @torch.no_grad()
    def step(self):
        for p in self.trained:
            if p not in self.state:
                self.state[p] = {"mean": torch.zeros_like(p), "square": torch.zeros_like(p)}
        means = [self.state[p]["mean"] for p in self.trained]
        squares = [self.state[p]["square"] for p in self.trained]
        gradients = [p.grad for p in self.trained]
        if self.fused:
            for p, m, v, g in zip(self.trained, means, squares, gradients):
                m.mul_(0.9).add_(g, alpha=0.1)
                v.mul_(0.999).addcmul_(g, g, value=0.001)
                p.addcdiv_(m, v, value=-1e-4)
            return
        torch._foreach_mul_(self.trained, 1 - 1e-6)
        torch._foreach_mul_(means, 0.9)
        torch._foreach_add_(means, gradients, alpha=0.1)
        torch._foreach_mul_(squares, 0.999)
        torch._foreach_addcmul_(squares, gradients, gradients, 0.001)
        denominators = torch._foreach_sqrt(squares)
        torch._foreach_div_(denominators, [math.sqrt(0.001)] * len(self.trained))
        torch._foreach_add_(denominators, 1e-8)
        torch._foreach_addcdiv_(self.trained, means, denominators, [-1e-4] * len(self.trained))


class PlainAdamW:
    """The course's own AdamW (the GPU log's): new moments are new tensors, and the names of the
    old ones hold them until the next parameter's are read."""

    def __init__(self, parameters):
        self.trained = parameters
        self.state = {p: {} for p in parameters}

    def step(self):
        for p in self.trained:
            gradient, state = p.grad.data, self.state[p]
            p.data -= 1e-6 * p.data
            mean_before = state.get("mean", torch.zeros_like(gradient))
            square_before = state.get("square", torch.zeros_like(gradient))
            mean = 0.9 * mean_before + 0.1 * gradient
            square = 0.999 * square_before + 0.001 * torch.square(gradient)
            p.data -= 1e-4 * mean / (torch.sqrt(square) + 1e-8)
            state["mean"], state["square"] = mean, square
