"""The learning curve as SVG: for each skill the held-out loss over the tokens that the run has seen."""
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 720, 380, 56, 24, 120, 44
SHOWN = {"documents": "#2f6f9f", "manual": "#b0562e", "sums": "#5b8c3a", "textops": "#8a4f9e", "app": "#a08a1f", "talk": "#6b7280"}


def draw(points):
    """points: [{"tokens": n, "skills": {name: {"loss": x}}}, ..] in the order of the run."""
    most = max(point["tokens"] for point in points) or 1
    top = max(point["skills"][name]["loss"] for point in points for name in SHOWN) * 1.05
    x = lambda tokens: LEFT + tokens / most * (WIDTH - LEFT - RIGHT)
    y = lambda loss: HEIGHT - BOTTOM - loss / top * (HEIGHT - TOP - BOTTOM)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
    for n in range(5):
        loss, tokens = top * n / 4, most * n / 4
        parts.append(f'<path d="M{LEFT} {y(loss):.1f}H{WIDTH - RIGHT}" stroke="#e5e7eb"/><text x="{LEFT - 8}" y="{y(loss) + 4:.1f}" text-anchor="end">{loss:.2f}</text>')
        parts.append(f'<text x="{x(tokens):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{tokens / 1e6:.2f}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">million tokens of this run</text>')
    parts.append(f'<text x="{LEFT - 44}" y="{TOP - 8}">held-out loss, nats per token</text>')
    ends = sorted((points[-1]["skills"][name]["loss"], name) for name in SHOWN)
    label = HEIGHT
    for loss, name in ends:
        line = " ".join(f"{x(p['tokens']):.1f},{y(p['skills'][name]['loss']):.1f}" for p in points)
        label = min(y(loss) + 4, label - 14)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{SHOWN[name]}" stroke-width="2"/>')
        parts.append(f'<text x="{x(most) + 8:.1f}" y="{label:.1f}" fill="{SHOWN[name]}">{name} {loss:.2f}</text>')
    return "\n".join([*parts, "</svg>", ""])
