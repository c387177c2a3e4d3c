"""What the networks share: blocks under checkpointing, the loss, and what the script holds.

Local variables are part of the measurement: a tensor that a Python name still holds is alive."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import early_stop
import framework
import parts

if framework.LATER:
    import selective


class Network(nn.Module):
    def __init__(self, config, precision, watch):
        super().__init__()
        self.config = config
        self.precision = precision
        self.watch = watch

    def new_head(self):
        """The projection to the vocabulary; tied, its weight is the token table's. It stands
        before the blocks among the parameters, as the final norm does: the optimizer goes
        through them in this order."""
        head = parts.Linear(self.precision, self.config.hidden, self.config.vocab, bias=False)
        if self.config.tied_embeddings:
            head.weight = self.tokens.weight
        return head

    def run_blocks(self, x, *shared):
        """The blocks in order, each or every few of them under a checkpoint."""
        every = self.config.checkpoint_every
        count = len(self.blocks)
        if not every:
            for i in range(count):
                x = self.run_block(i, x, shared)
                self.watch.label_backward(x, f"layer{i}")
            return x
        for first in range(0, count, every):
            last = min(first + every, count)

            def stretch(h, *rest, first=first, last=last):
                return self.run_stretch(first, last, h, rest)

            with self.watch.at(f"layer{first}"):
                x = self.checkpointed(stretch, x, *shared)
            self.watch.label_backward(x, f"layer{last - 1}")
        return x

    def checkpointed(self, stretch, *args):
        config = self.config
        if framework.LATER:
            with torch.utils.checkpoint.set_checkpoint_early_stop(config.early_stop):
                how = {}
                if config.keep is not None:
                    how["context_fn"] = lambda: selective.contexts(config, self.watch)
                return checkpoint(stretch, *args, use_reentrant=config.reentrant,
                                  preserve_rng_state=False, **how)
        if config.early_stop and not config.reentrant:
            return early_stop.checkpoint(stretch, *args)
        return checkpoint(stretch, *args, use_reentrant=config.reentrant)

    def run_block(self, i, x, shared):
        with self.watch.at(f"layer{i}"):
            return self.blocks[i](x, *shared)

    def run_stretch(self, first, last, x, shared):
        with self.watch.segment() as replayed:
            try:
                for i in range(first, last):
                    x = self.run_block(i, x, shared)
            finally:
                if replayed:
                    self.precision.forget()  # the replay has an autocast context of its own
        return x

    def loss(self, logits, labels):
        """kernels.loss: 'native' on the logits as they are; 'fp32' on a copy made inside the
        loss; 'fp32_shift' first makes the copy the script's own, then a shifted contiguous one
        along the second axis. Returns the loss and the logits if the script keeps them."""
        self.watch.label_backward(logits, "head")
        kind = self.config.loss
        with self.watch.at("loss"):
            if kind == "native":
                loss = self.cross_entropy(logits, labels)
            elif kind == "fp32":
                loss = self.cross_entropy(logits.float(), labels)
            else:
                logits = logits.float()
                loss = self.cross_entropy(logits[:, :-1, :].contiguous(),
                                          labels[:, 1:].contiguous())
        self.precision.forget()
        return loss, (logits if self.config.keep_logits else None)

    def cross_entropy(self, logits, labels):
        """F.cross_entropy. Autocast computes nll_loss in fp32, log_softmax as the logits are."""
        logits, labels = logits.view(-1, logits.size(-1)), labels.reshape(-1)
        if not self.precision.by_hand:
            return F.cross_entropy(logits, labels)
        return F.nll_loss(self.precision.high(F.log_softmax(logits, -1)), labels)
