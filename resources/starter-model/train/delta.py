"""The gated delta rule in chunks of 64 tokens (Yang et al., "Gated Delta Networks", 2024): what depends on one chunk only is
done for all chunks at once; only the state runs from chunk to chunk.

For one head, with S the state before a chunk:   V = U - W S      O = Q S + P V      S' = d S + K^T V
"""
import torch

CHUNK = 64
RESET = -60.0  # log decay at the first token of a sample: clears the state (exp(-60) ~ 1e-26)


def unit_triangular_inverse(a):
    """(I + A)^-1 for strictly lower triangular A [n, 64, 64], by substitution: exact also where neighbouring keys are alike."""
    eye = torch.eye(a.shape[-1], device=a.device)
    return torch.linalg.solve_triangular(a + eye, eye.expand_as(a), upper=False, unitriangular=True)


class UnitTriangularInverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        inverse = unit_triangular_inverse(a)
        ctx.save_for_backward(inverse)
        return inverse

    @staticmethod
    def backward(ctx, grad):
        (inverse,) = ctx.saved_tensors
        turned = inverse.mT
        return -(turned @ grad @ turned).tril(-1)


def decays(g):
    """g [C, H, 64] log decays -> decay between two tokens of a chunk [C, H, 64, 64], from its begin [.., 64, 1], to its end."""
    total = g.cumsum(-1)
    low = torch.ones(CHUNK, CHUNK, dtype=torch.bool, device=g.device).tril()
    between = (total.unsqueeze(-1) - total.unsqueeze(-2)).masked_fill(~low, float("-inf")).exp()
    return between, total.exp().unsqueeze(-1), (total[..., -1:] - total).exp().unsqueeze(-1), total[..., -1:].exp().unsqueeze(-1)


def overlaps(q, k, g, beta):
    """Before the inverse. q, k [N, Hk, D]; g, beta [N, Hv] -> A [C*Hv, 64, 64] and what the second part needs."""
    (n, hk, d), hv = k.shape, g.shape[1]
    chunks = lambda x: x.view(n // CHUNK, CHUNK, x.shape[1], -1).transpose(1, 2)
    spread = lambda x: x.repeat_interleave(hv // hk, 1) if hv != hk else x
    q, k = chunks(q), chunks(k)                                                     # [C, Hk, 64, D]
    between, begin, end, whole = decays(chunks(g).squeeze(-1))
    beta = chunks(beta)                                                             # [C, Hv, 64, 1]
    a = (spread(k @ k.mT) * between * beta).tril(-1)
    p = spread(q @ k.mT) * between
    q, k = spread(q), spread(k)
    flat = lambda x: x.flatten(0, 1)
    return flat(a), flat(p), flat(q * begin), flat(k * end), flat(k * (beta * begin)), flat(whole), flat(beta)


class Scan(torch.autograd.Function):
    """The state from chunk to chunk, for R rows of n chunks. w, q, k [n, R, 64, D]; u [n, R, 64, Dv]; p [n, R, 64, 64]; d [n, R, 1, 1].
    What does not wait for a state is one product over all chunks."""

    @staticmethod
    def forward(ctx, w, q, u, p, k, d):
        n, rows = u.shape[:2]
        states = u.new_zeros(n, rows, k.shape[-1], u.shape[-1])
        v = torch.empty_like(u, memory_format=torch.contiguous_format)
        v[0] = u[0]
        for i in range(1, n):
            torch.mul(states[i - 1], d[i - 1], out=states[i]).baddbmm_(k[i - 1].mT, v[i - 1])
            torch.baddbmm(u[i], w[i], states[i], alpha=-1, out=v[i])
        ctx.save_for_backward(w, q, p, k, d, v, states)
        return (q @ states).add_(p @ v)

    @staticmethod
    def backward(ctx, grad):
        w, q, p, k, d, v, states = ctx.saved_tensors
        dv = p.mT @ grad
        dstates = torch.zeros_like(states)                                          # of the state after each chunk
        dstates[:-1] = (q.mT @ grad)[1:]
        for i in reversed(range(len(v) - 1)):
            # dstates[i] lacks what comes back through chunk i + 1
            if i + 2 < len(v):
                dv[i + 1].baddbmm_(k[i + 1], dstates[i + 1])
                dstates[i].addcmul_(dstates[i + 1], d[i + 1])
            dstates[i].baddbmm_(w[i + 1].mT, dv[i + 1], alpha=-1)
        dv[0].baddbmm_(k[0], dstates[0])
        turned = states.mT
        return -(dv @ turned), grad @ turned, dv, grad @ v.mT, v @ dstates.mT, (states * dstates).sum((-1, -2), keepdim=True)
