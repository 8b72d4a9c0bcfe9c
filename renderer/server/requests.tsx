import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ServerRequest } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { useFormats } from '../i18n.ts';
import { useServer } from '../stores/server.ts';
import { useSettings } from '../stores/settings.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { MISSING } from '../ui/format.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export function Requests({ onConnect }: { onConnect: () => void }) {
  const { t } = useTranslation();
  const requests = useServer((state) => state.requests);
  const inspector = useSettings((state) => state.values.serverInspector);
  const [filter, setFilter] = useState('');
  const words = filter.trim().toLowerCase();
  const shown = requests.filter((request) => textOf(request).includes(words));
  const today = requests.filter(({ at }) => Date.now() - at < DAY_MS);
  return (
    <section aria-label={t('server.requests')} className="flex min-h-0 flex-1 flex-col">
      <div className="flex h-12 flex-none items-center gap-2 px-5">
        <h2 className="font-semibold">{t('server.requests')}</h2>
        <span className="truncate text-fg-3 tabular-nums">
          {t('server.count', {
            count: today.length,
            refused: today.filter(({ state }) => state === 'refused').length,
          })}
        </span>
        <span className="flex-1" />
        <Field
          icon="search"
          className="w-42"
          aria-label={t('server.filter')}
          placeholder={t('server.filter')}
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      </div>
      <div className="min-h-0 flex-1 overflow-auto border-t border-line">
        {shown.length === 0 ? (
          <div className="flex flex-col items-center gap-3 px-5 py-16 text-center text-fg-3">
            <p>{t(requests.length === 0 ? 'server.noRequests' : 'server.noMatch')}</p>
            {requests.length === 0 && <Button onClick={onConnect}>{t('server.connect')}</Button>}
          </div>
        ) : (
          <Table requests={shown} />
        )}
      </div>
      <footer className="flex h-bar flex-none items-center gap-4 border-t border-line ps-5 pe-3 text-xs text-fg-3">
        <span className="truncate">{t(inspector ? 'server.textsKept' : 'server.noTexts')}</span>
        <Button
          kind="quiet"
          className="ms-auto text-xs"
          disabled={requests.length === 0}
          onClick={() => void core.call('server.clear')}
        >
          {t('server.clear')}
        </Button>
      </footer>
    </section>
  );
}

const textOf = ({ path, client, model, status, reason }: ServerRequest) =>
  [path, client, model, status, reason].join(' ').toLowerCase();

const columns = ['time', 'path', 'state', 'from', 'model', 'read', 'known', 'written', 'first', 'total'] as const;
const figures: readonly string[] = ['read', 'known', 'written', 'first', 'total'];
/** Columns hidden in a narrower window; the details have them. */
const hidden: Partial<Record<(typeof columns)[number], string>> = {
  model: 'max-xl:hidden',
  first: 'max-xl:hidden',
  known: 'max-lg:hidden',
};

function Table({ requests }: { requests: readonly ServerRequest[] }) {
  const { t } = useTranslation();
  return (
    <table className="w-full whitespace-nowrap tabular-nums [&_td]:px-1.75 [&_td:first-child]:ps-5 [&_td:last-child]:pe-3 [&_th]:px-1.75 [&_th:first-child]:ps-5 [&_th:last-child]:pe-3">
      <thead className="sticky top-0 bg-canvas text-2xs text-fg-3">
        <tr>
          {columns.map((column) => (
            <th
              key={column}
              scope="col"
              className={`h-row font-medium ${figures.includes(column) ? 'text-end' : 'text-start'} ${hidden[column] ?? ''}`}
            >
              {t(`server.column.${column}`)}
            </th>
          ))}
          <th>
            <span className="sr-only">{t('server.stop')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {requests.map((request) => (
          <RequestRow key={request.id} request={request} />
        ))}
      </tbody>
    </table>
  );
}

const tones: Record<ServerRequest['state'], string> = {
  running: 'text-ink-text',
  done: 'text-ok-text',
  failed: 'text-bad-text',
  refused: 'text-bad-text',
  stopped: 'text-fg-2',
};

export function RequestState({ request }: { request: ServerRequest }) {
  const { t } = useTranslation();
  const { state, status } = request;
  return (
    <span className={`font-medium ${tones[state]}`} title={request.reason ?? undefined}>
      {state === 'done' || (status !== null && status >= 400) ? status : t(`server.state.${state}`)}
    </span>
  );
}

function RequestRow({ request }: { request: ServerRequest }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const chosen = useServer((state) => state.chosen === request.id);
  const { id, at, path, client, model, state, promptTokens, cachedTokens, writtenTokens, firstMs, totalMs } = request;
  const count = (tokens: number | null) => (tokens === null ? MISSING : formats.exact(tokens));
  const time = (ms: number | null) => (ms === null ? MISSING : formats.duration(ms));
  return (
    <tr className={`border-t border-line ${chosen ? 'bg-ink-soft' : 'hover:bg-hover'}`}>
      <td className="h-row-lg text-fg-3">{formats.clockSeconds(at)}</td>
      <td className="w-full max-w-0">
        <button
          type="button"
          aria-pressed={chosen}
          onClick={() => useServer.setState({ chosen: chosen ? null : id })}
          className="flex h-row-lg w-full items-center text-start ring-inset-focus"
        >
          <bdi dir="ltr" className="truncate font-medium" title={path}>
            {path}
          </bdi>
        </button>
      </td>
      <td>
        <RequestState request={request} />
      </td>
      <td className="max-w-28 truncate text-fg-2" title={client ?? undefined}>
        {client ?? t('server.unknown')}
      </td>
      <td className={`max-w-32 truncate text-fg-2 ${hidden.model}`} title={model ?? undefined}>
        {model ?? MISSING}
      </td>
      <td className="text-end">{count(promptTokens)}</td>
      <td className={`text-end text-fg-2 ${hidden.known}`}>{count(cachedTokens)}</td>
      <td className="text-end">{count(writtenTokens)}</td>
      <td className={`text-end ${hidden.first}`}>{time(firstMs)}</td>
      <td className="text-end">{time(totalMs)}</td>
      <td className="w-8">
        {state === 'running' && (
          <IconButton
            small
            icon="stop"
            label={t('server.stop')}
            onClick={() => void core.call('server.stop', { id })}
          />
        )}
      </td>
    </tr>
  );
}
