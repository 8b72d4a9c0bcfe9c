import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { RequestDifference, ServerRequest, ServerTexts } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { useFormats } from '../i18n.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { MISSING } from '../ui/format.ts';
import { Meter } from '../ui/meter.tsx';
import { RequestState } from './requests.tsx';

/** One request: its duration, the cached part of its prompt, and its texts if they were stored. */
export function RequestDetails({ request, onClose }: { request: ServerRequest; onClose: () => void }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { id, at, path, method, client, model, state, reason, firstMs, totalMs, writtenTokens } = request;
  const time = (ms: number | null) => (ms === null ? MISSING : formats.duration(ms));
  return (
    <aside
      aria-label={t('server.request')}
      className="flex w-panel flex-none flex-col border-s border-line max-xl:w-90 max-lg:w-full max-lg:border-s-0"
    >
      <header className="flex h-bar flex-none items-center gap-2 border-b border-line ps-5 pe-2">
        <h2 className="font-semibold">{t('server.request')}</h2>
        <span className="text-fg-3 tabular-nums">{formats.clockSeconds(at)}</span>
        <span className="flex-1" />
        {state === 'running' && (
          <Button kind="quiet" icon="stop" onClick={() => void core.call('server.stop', { id })}>
            {t('server.stop')}
          </Button>
        )}
        <IconButton icon="close" label={t('server.closeDetails')} onClick={onClose} />
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto px-5 py-3">
        <dl>
          <Line name={t('server.column.path')}>
            <bdi dir="ltr" className="wrap-anywhere">{`${method} ${path}`}</bdi>
          </Line>
          <Line name={t('server.column.state')}>
            <RequestState request={request} />
          </Line>
          <Line name={t('server.column.from')}>{client ?? t('server.unknown')}</Line>
          <Line name={t('server.column.model')}>{model ?? MISSING}</Line>
          <Line name={t('server.firstToken')}>{time(firstMs)}</Line>
          <Line name={t('server.column.total')}>{time(totalMs)}</Line>
          <Line name={t('server.column.written')}>
            {writtenTokens === null ? MISSING : formats.exact(writtenTokens)}
          </Line>
        </dl>
        {reason && <p className="mt-2 text-fg-2 wrap-anywhere">{reason}</p>}
        <Cached request={request} />
        {request.inspected ? (
          <Texts request={request} />
        ) : (
          <p className="mt-5 text-xs text-fg-3">{t('server.notInspected')}</p>
        )}
      </div>
    </aside>
  );
}

const Line = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="flex min-h-row items-center gap-4">
    <dt className="flex-none text-fg-3">{name}</dt>
    <dd className="ms-auto min-w-0 text-end tabular-nums">{children}</dd>
  </div>
);

function Cached({ request }: { request: ServerRequest }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { promptTokens, cachedTokens, differsAt, miss } = request;
  if (promptTokens === null || cachedTokens === null || promptTokens === 0) return null;
  const said = t('server.reused', {
    known: formats.exact(cachedTokens),
    read: formats.exact(promptTokens),
  });
  return (
    <div className="mt-4 border-t border-line pt-4">
      <div className="flex items-center">
        <h3 className="font-semibold">{t('server.promptCache')}</h3>
        <span className="ms-auto text-fg-2 tabular-nums">{said}</span>
      </div>
      <Meter parts={[{ share: cachedTokens / promptTokens, tone: 'ink' }]} label={said} className="mt-2.5 h-2 w-full" />
      {differsAt !== null && (
        <p className="mt-2.5 text-fg-2">{t('server.differsAt', { token: formats.exact(differsAt + 1) })}</p>
      )}
      {miss && (
        <p className="mt-2.5 text-fg-2">{t(`speed.miss.${miss.reason}`, { tokens: formats.exact(miss.tokens) })}</p>
      )}
    </div>
  );
}

/** Reloaded while the answer grows. */
function Texts({ request }: { request: ServerRequest }) {
  const { t } = useTranslation();
  const [texts, setTexts] = useState<ServerTexts | null>(null);
  const { id, writtenTokens } = request;
  // biome-ignore lint/correctness/useExhaustiveDependencies: more was written
  useEffect(() => {
    let gone = false;
    void core.call('server.texts', { id }).then((read) => gone || setTexts(read));
    return () => {
      gone = true;
    };
  }, [id, writtenTokens]);
  if (!texts) return null;
  return (
    <>
      {texts.difference && <Difference difference={texts.difference} />}
      {texts.asked.map(({ role, text }, at) => (
        <Text key={at} title={role} text={text} />
      ))}
      {texts.thinking !== '' && <Text title={t('server.thinking')} text={texts.thinking} />}
      {(texts.answer !== '' || texts.calls === '') && <Text title={t('server.answer')} text={texts.answer} />}
      {texts.calls !== '' && <Text title={t('server.calls')} text={texts.calls} />}
    </>
  );
}

/** Whoever writes the program can mend what changes; the line says where to look. */
function Difference({ difference: { role, before, was, now } }: { difference: RequestDifference }) {
  const { t } = useTranslation();
  return (
    <section aria-label={t('server.difference')} className="mt-4">
      <h3 className="text-xs text-fg-3">{t('server.differsIn', { role })}</h3>
      <div
        dir="auto"
        className="mt-1 rounded-md bg-code px-3.5 py-2.5 font-mono text-xs leading-5 whitespace-pre-wrap wrap-anywhere hairline-soft"
      >
        {before !== '' && <p className="text-fg-3">{before}</p>}
        <del className="block text-bad-text no-underline">{`− ${was}`}</del>
        <ins className="block text-ok-text no-underline">{`+ ${now}`}</ins>
      </div>
      <p className="mt-1 text-xs text-fg-3">{t('server.differsAbout')}</p>
    </section>
  );
}

const Text = ({ title, text }: { title: string; text: string }) => (
  <section className="mt-4">
    <h3 className="text-xs text-fg-3">{title}</h3>
    <pre
      dir="auto"
      className="mt-1 max-h-72 overflow-y-auto rounded-md bg-code px-3.5 py-2.5 font-mono text-xs leading-5 whitespace-pre-wrap wrap-anywhere hairline-soft"
    >
      {text}
    </pre>
  </section>
);
