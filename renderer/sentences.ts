import { type ErrorCode, type Failure, FailureReason } from '../app/protocol/index.ts';
import { t } from './i18n.ts';

//  The only place that turns failures into sentences for the user. The core's own message (`[where] what came, what is
//  allowed`, and its hint for a terminal) is for the report and for Details.

/** One or two plain sentences: what happened, and what to do. */
export function sentenceOf(failure: Failure): string {
  return causeOf(failure) ?? `${whatOf(failure)}. ${t(`errors.${failure.code}.way`)}`;
}

/** What happened, without a period: a title. */
export const whatOf = ({ code }: Pick<Failure, 'code'>): string => t(`errors.${code}.what`);

/** Under a title that says what happened. */
export const wayOf = (failure: Failure): string => causeOf(failure) ?? t(`errors.${failure.code}.way`);

/** Where there is room for a few words only. */
export const shortly = (failure: Failure): string => causeOf(failure) ?? whatOf(failure);

function causeOf({ details }: Failure): string | undefined {
  const reason = FailureReason.safeParse(details?.reason).data;
  if (!reason) return undefined;
  const sentence = t(`trouble.${reason}`);
  // A remote engine's own message is often all there is to know.
  const quotes = reason === 'engine-refused' || reason === 'engine-error';
  return quotes && typeof details?.said === 'string'
    ? `${sentence} ${t('remoteEngines.said', { said: details.said })}`
    : sentence;
}

/** The same for a bare code, of a download or a failure. */
export function sentenceOfCode(code: string): string {
  const reason = FailureReason.safeParse(code).data;
  return reason ? t(`trouble.${reason}`) : sentenceOf({ code: code as ErrorCode, message: '' });
}
