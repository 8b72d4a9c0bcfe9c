"""Cross-entropy where the assistant speaks. The projection to the vocabulary runs only there, a few hundred tokens at a time,
and its gradient is made in the same pass, so that no [tokens, 8192] matrix is kept."""
import torch
import torch.nn.functional as F

import layers
from data.prompt import SPOKEN

AT_ONCE = 512
DRAFTED = 0.6  # weight from which the MTP layer learns a token


class Head(torch.autograd.Function):
    """Weighted mean of the cross-entropy: hidden [M, H], table [V, H], targets [M], weights [M] -> (loss, loss of each [M])."""

    @staticmethod
    def forward(ctx, hidden, table, targets, weights):
        total = weights.sum().clamp(min=1)
        low = table.to(layers.product)
        each, grad_hidden, grad_table = [], [], torch.zeros_like(table)
        for h, t, w in zip(hidden.split(AT_ONCE), targets.split(AT_ONCE), weights.split(AT_ONCE)):
            h = h.to(layers.product)
            logits = F.linear(h, low).float()
            log_sum = logits.logsumexp(-1, keepdim=True)
            each.append((log_sum - logits.gather(1, t.unsqueeze(1))).squeeze(1))
            grad = logits.sub_(log_sum).exp_()
            grad.scatter_add_(1, t.unsqueeze(1), grad.new_full((len(t), 1), -1.0))
            grad = grad.mul_((w / total).unsqueeze(1)).to(layers.product)
            grad_hidden.append((grad @ low).float())
            grad_table += (grad.mT @ h).float()
        each = torch.cat(each)
        ctx.save_for_backward(torch.cat(grad_hidden), grad_table)
        ctx.mark_non_differentiable(each)
        return (each * weights).sum() / total, each

    @staticmethod
    def backward(ctx, grad, _):
        grad_hidden, grad_table = ctx.saved_tensors
        return grad * grad_hidden, grad * grad_table, None, None


def targets(ids, weights, seg, ahead):
    """For every position [B*T]: the token `ahead` places on, and its weight where it is of the same sample."""
    same = seg.roll(-ahead, 1) == seg
    same[:, -ahead:] = False
    return ids.roll(-ahead, 1).flatten(), (weights.roll(-ahead, 1) * same).flatten()


def losses(model, ids, weights, seg, mtp_weight):
    """All [B, T]. Returns the loss to descend, the loss of a token of the assistant, the loss of a drafted one (0: not trained)."""
    rows = model.rows(seg)
    table = model.model.embed_tokens.weight
    hidden = model.hidden(ids, rows)

    def head(h, ahead, least):
        wanted, w = targets(ids, weights, seg, ahead)
        at = (w > least).nonzero().squeeze(1)
        loss, each = Head.apply(h[at], table, wanted[at], w[at])
        return loss, each[w[at] >= SPOKEN]

    main, each = head(hidden, 1, 0.0)
    if mtp_weight == 0:
        return main, each.mean().item(), 0.0
    draft, _ = head(model.draft_hidden(hidden, ids, rows), 2, DRAFTED)
    return main + mtp_weight * draft, each.mean().item(), draft.item()
