"""The parts of a layer as functions of flat tokens [N, ...]. Their shapes never change during a run, so each is compiled once
for all layers; what depends on the row width (attention, the state of the delta rule) runs between them.

Formulas: section 5.5 and 5.7 of the Qwen3.5 text architecture as `transformers` computes it.
"""
import torch
import torch.nn.functional as F

from delta import RESET, UnitTriangularInverse, overlaps

EPS = 1e-6
product = torch.float32  # dtype of the large matrix products


def set_product(dtype):
    global product
    product = dtype


def linear(x, w):
    return F.linear(x.to(product), w.to(product)).float()


def norm(x, w):
    """Zero-centred RMS norm: the gain is 1 + w."""
    return F.rms_norm(x, (x.shape[-1],), 1.0 + w, EPS)


def unit(x):
    return x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + EPS)


def conv(x, w, place):
    """Causal depthwise convolution [N, C] by w [C, 1, K]; place [N]: the token's number in its sample, none reaches before it."""
    taps = w.shape[-1]
    y = x * w[:, 0, -1]
    for back in range(1, taps):
        before = F.pad(x[:-back], (0, 0, back, 0)).masked_fill((place < back).unsqueeze(1), 0.0)
        y = y + before * w[:, 0, -1 - back]
    return y


def delta_in(h, place, in_norm, w_qkv, w_z, w_b, w_a, w_conv, a_log, dt_bias, hk, dk):
    """h [N, H] -> the chunk matrices of delta.overlaps, v * beta [C*Hv, 64, Dv], the gate z [N, Hv, Dv]."""
    n, hv = h.shape[0], a_log.shape[0]
    kd, vd = hk * dk, w_z.shape[0]
    y = linear(norm(h, in_norm), torch.cat([w_qkv, w_z, w_b, w_a]))
    mixed, z, b, a = y.split([2 * kd + vd, vd, hv, hv], -1)
    q, k, v = F.silu(conv(mixed, w_conv, place)).split([kd, kd, vd], -1)
    q, k = unit(q.view(n, hk, dk)) * dk ** -0.5, unit(k.view(n, hk, dk))
    g = (-a_log.exp() * F.softplus(a + dt_bias)).masked_fill((place == 0).unsqueeze(1), RESET)
    matrix, p, q, k, kw, whole, beta = overlaps(q, k, g, b.sigmoid())
    v = v.view(n // 64, 64, hv, -1).transpose(1, 2).flatten(0, 1) * beta
    return matrix, p, q, k, kw, whole, v, z.view(n, hv, -1)


def delta_mid(matrix, kw, v):
    """The inverse applied: W [C*Hv, 64, D] and U [C*Hv, 64, Dv]."""
    inverse = UnitTriangularInverse.apply(matrix)
    return inverse @ kw, inverse @ v


def delta_out(h, o, z, w_norm, w_out, mlp):
    """o [N, Hv, Dv] -> RMS norm per head, gated by silu(z), projected; then the MLP."""
    y = F.rms_norm(o, (o.shape[-1],), w_norm, EPS) * F.silu(z)
    return feed_forward(h + linear(y.flatten(1), w_out), *mlp)


def feed_forward(h, post_norm, gate, up, down):
    x = norm(h, post_norm)
    both = linear(x, torch.cat([gate, up]))
    g, u = both.chunk(2, -1)
    return h + linear(F.silu(g) * u, down)


def rotate(x, cos, sin):
    """x [N, heads, D]; cos, sin [N, R/2]: the first R of D turn, i with i + R/2."""
    r = cos.shape[-1]
    a, b, rest = x[..., :r], x[..., r:2 * r], x[..., 2 * r:]
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], -1)


def attention_in(h, cos, sin, in_norm, w_q, w_k, w_v, q_norm, k_norm):
    """h [N, H] -> q [N, nq, D], k and v [N, nq, D] (repeated for the heads that share them), gate [N, nq, D]."""
    n, d = h.shape[0], q_norm.shape[0]
    y = linear(norm(h, in_norm), torch.cat([w_q, w_k, w_v]))
    qg, k, v = y.split([w_q.shape[0], w_k.shape[0], w_v.shape[0]], -1)
    q, gate = qg.view(n, -1, 2 * d).chunk(2, -1)
    q = rotate(norm(q, q_norm), cos, sin)
    k = rotate(norm(k.view(n, -1, d), k_norm), cos, sin)
    share = q.shape[1] // k.shape[1]
    return q, k.repeat_interleave(share, 1), v.view(n, -1, d).repeat_interleave(share, 1), gate


def attention_out(h, o, gate, w_out, mlp):
    return feed_forward(h + linear((o * gate.sigmoid()).flatten(1), w_out), *mlp)


def draft_in(e, h, e_norm, h_norm, fc):
    """MTP input: embedding of the next token first, then the final-normed hidden state (section 9)."""
    return linear(torch.cat([norm(e, e_norm), norm(h, h_norm)], -1), fc)
