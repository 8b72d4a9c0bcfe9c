import type { Figure, QualityKind, QualityResult, QualityRun } from '../../../app/protocol/index.ts';

export type DoneRun = QualityRun & { state: Extract<QualityRun['state'], { status: 'done' }> };

export const isDone = (run: QualityRun): run is DoneRun => run.state.status === 'done';

/** What a result says first, and what else; `share`: shown in percent. */
export type Named = { metric: string; figure: Figure; share: boolean };

export function figuresOf(result: QualityResult): Named[] {
  const share = (metric: string, figure: Figure): Named => ({ metric, figure, share: true });
  const plain = (metric: string, figure: Figure): Named => ({ metric, figure, share: false });
  switch (result.kind) {
    case 'perplexity':
      return [plain('perplexity', result.perplexity), plain('bitsPerByte', result.bitsPerByte)];
    case 'divergence':
      return [plain('kld', result.kld), share('sameTop', result.sameTop), plain('perplexity', result.perplexity)];
    case 'choices':
      return [share('accuracy', result.accuracy), share('normalised', result.normalised)];
    case 'reading':
      return [share(result.metric, result.score)];
    case 'needle':
      return [share('found', result.found)];
    case 'reasoning':
      return [share('right', result.right), share('answered', result.answered), share('looped', result.looped)];
  }
}

/** The newest results of both models for the same test, by kind. */
export function pairsOf(
  a: readonly QualityRun[],
  b: readonly QualityRun[],
  kinds: readonly QualityKind[],
): { kind: QualityKind; a: DoneRun | null; b: DoneRun | null; matched: boolean }[] {
  return kinds.map((kind) => {
    const [ours, theirs] = [a, b].map((runs) => runs.filter(isDone).filter(({ subject }) => subject.kind === kind));
    const first = ours?.find(({ key }) => theirs?.some((other) => other.key === key));
    const second = theirs?.find(({ key }) => key === first?.key);
    if (first && second) return { kind, a: first, b: second, matched: true };
    return { kind, a: ours?.[0] ?? null, b: theirs?.[0] ?? null, matched: false };
  });
}
