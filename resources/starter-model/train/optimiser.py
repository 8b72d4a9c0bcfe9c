"""Muon (orthogonalised momentum, Jordan 2024) for the hidden matrices, AdamW for embeddings, norms, gates and convolutions."""
import torch

import layers


def newton_schulz(g, steps=5):
    """Approximate orthogonalisation of a batch of matrices."""
    x = g.to(layers.product)
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    for _ in range(steps):
        a = x @ x.mT
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return (x.mT if tall else x).float()


class Muon(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0.95, weight_decay=0.01):
        super().__init__(params, dict(lr=lr, momentum=momentum, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            alike = {}
            for p in group["params"]:
                if p.grad is not None:
                    alike.setdefault(p.shape, []).append(p)
            for shape, ps in alike.items():
                self.update(group, shape, ps)

    def update(self, group, shape, ps):
        moved = []
        for p in ps:
            state = self.state[p]
            if "m" not in state:
                state["m"] = torch.zeros_like(p)
            state["m"].lerp_(p.grad, 1 - group["momentum"])
            moved.append(p.grad.lerp(state["m"], group["momentum"]))
        scale = max(1.0, shape[0] / shape[1]) ** 0.5
        for p, u in zip(ps, newton_schulz(torch.stack(moved))):
            p.mul_(1 - group["lr"] * group["weight_decay"]).add_(u, alpha=-group["lr"] * scale)


def optimisers(model, muon_lr, adam_lr, embed_lr):
    """Every group carries its full rate as "base"."""
    embedding = model.model.embed_tokens.weight
    matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n and min(p.shape) > 8]
    known = {id(p) for p in matrices} | {id(embedding)}
    rest = [p for p in model.parameters() if id(p) not in known]
    adam = torch.optim.AdamW([dict(params=rest, lr=adam_lr), dict(params=[embedding], lr=embed_lr)],
                             betas=(0.9, 0.97), eps=1e-8, weight_decay=0.0, fused=True)
    both = [adam, Muon([dict(params=matrices)], lr=muon_lr)]
    for one in both:
        for group in one.param_groups:
            group["base"] = group["lr"]
    return both


def set_rate(both, factor):
    for one in both:
        for group in one.param_groups:
            group["lr"] = group["base"] * factor


def rate_at(step, warmup, steps, decay):
    """Warm-up, then constant, then linear to a thirtieth over the last `decay` steps: a run can go on from before the decay."""
    left = (steps - step) / decay if decay else 1.0
    return min(1.0, (step + 1) / warmup) * max(0.03, min(1.0, left))
