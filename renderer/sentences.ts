import { type ErrorCode, type Failure, FailureReason } from '../app/protocol/index.ts';
import { t } from './i18n.ts';

//  What a person reads when something failed. What the core says of itself (`[where] what came, what is allowed`) is for the
//  report and for Details.

/** One or two plain sentences: what happened, and the way on. */
export function sentenceOf({ code, hint, details }: Failure): string {
  const reason = FailureReason.safeParse(details?.reason).data;
  if (reason) return t(`trouble.${reason}`);
  return hint ?? `${t(`errors.${code}.what`)}. ${t(`errors.${code}.way`)}`;
}

/** The same for a code that stands alone: of a download, or of a failure. */
export function sentenceOfCode(code: string): string {
  const reason = FailureReason.safeParse(code).data;
  return reason ? t(`trouble.${reason}`) : sentenceOf({ code: code as ErrorCode, message: '' });
}
