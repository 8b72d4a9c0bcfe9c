import type { Figure, QualityResult } from '../protocol/index.ts';

const rounded = ({ value, low, high }: Figure) => ({ value, ...(low !== null && high !== null && { low, high }) });

/** A result as the command line writes it, and as the app exports it. */
export function jsonOf(result: QualityResult): object {
  switch (result.kind) {
    case 'perplexity':
      return { perplexity: rounded(result.perplexity), tokens: result.tokens };
    case 'divergence':
      return {
        kld: rounded(result.kld),
        kld_99: result.kld99,
        same_top: rounded(result.sameTop),
        perplexity: rounded(result.perplexity),
        reference_perplexity: rounded(result.referencePerplexity),
        tokens: result.tokens,
        reference: result.reference,
      };
    case 'choices':
      return {
        accuracy: rounded(result.accuracy),
        accuracy_normalised: rounded(result.normalised),
        questions: result.questions,
      };
    case 'reading':
      return {
        metric: result.metric,
        score: rounded(result.score),
        questions: result.questions,
        shortened: result.shortened,
        answers: result.answers,
      };
    case 'needle':
      return { found: rounded(result.found), texts: result.texts };
    case 'reasoning':
      return {
        right: rounded(result.right),
        answered: rounded(result.answered),
        looped: rounded(result.looped),
        kinds: result.kinds,
        attempts: result.attempts.map(({ kind, question, answer, ...attempt }) => ({
          kind,
          question,
          answer,
          expected: answer,
          ...attempt,
        })),
      };
  }
}
