import { type ErrorCode, type Failure, FailureReason } from '../app/protocol/index.ts';
import { t } from './i18n.ts';

//  What a person reads when something failed. What the core says of itself (`[where] what came, what is allowed`) is for the
//  report and for Details.

/** One or two plain sentences: what happened, and the way on. */
export function sentenceOf({ code, hint, details }: Failure): string {
  return causeOf({ hint, details }) ?? `${t(`errors.${code}.what`)}. ${t(`errors.${code}.way`)}`;
}

/** Under a title that says what happened. */
export const wayOf = (failure: Failure): string => causeOf(failure) ?? t(`errors.${failure.code}.way`);

function causeOf({ hint, details }: Pick<Failure, 'details'> & { hint?: string | undefined }): string | undefined {
  const reason = FailureReason.safeParse(details?.reason).data;
  return reason ? t(`trouble.${reason}`) : hint;
}

/** The same for a code that stands alone: of a download, or of a failure. */
export function sentenceOfCode(code: string): string {
  const reason = FailureReason.safeParse(code).data;
  return reason ? t(`trouble.${reason}`) : sentenceOf({ code: code as ErrorCode, message: '' });
}
