import { useEffect, useMemo, useState } from 'react';
import { createPortal, flushSync } from 'react-dom';
import { useTranslation } from 'react-i18next';
import { answerAsMarkdown, quotingIn } from '../../commands/export.ts';
import { useChat } from '../../stores/chat/store.ts';
import { branchOf } from '../../stores/chat/tree.ts';
import { visibleEnd } from '../../stores/chat/visible-branch.ts';
import { Markdown } from '../../ui/markdown/markdown.tsx';

/** The whole chat on paper, in light colours: on screen only what is in view is drawn. */
export function PrintedChat() {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const root = document.documentElement;
    let theme = root.dataset.theme;
    const begin = () => {
      theme = root.dataset.theme;
      root.dataset.theme = 'light';
      root.classList.add('printing');
      // The page is put on paper when this returns.
      flushSync(() => setPrinting(true));
    };
    const end = () => {
      root.dataset.theme = theme;
      root.classList.remove('printing');
      setPrinting(false);
    };
    window.addEventListener('beforeprint', begin);
    window.addEventListener('afterprint', end);
    return () => {
      window.removeEventListener('beforeprint', begin);
      window.removeEventListener('afterprint', end);
      root.classList.remove('printing');
    };
  }, []);
  return printing ? createPortal(<Paper />, document.body) : null;
}

function Paper() {
  const { t } = useTranslation();
  const open = useChat((state) => state.open);
  const leaf = useChat(visibleEnd);
  const branch = useMemo(() => (open ? branchOf(open.messages, leaf) : []), [open, leaf]);
  return (
    <div className="printed">
      <h1>{open?.chat.title}</h1>
      {branch.map((message) => (
        <section key={message.id}>
          <h2>{t(message.role === 'user' ? 'you' : 'answer')}</h2>
          {message.role === 'user' ? (
            <p className="whitespace-pre-wrap">{message.text}</p>
          ) : (
            <div className="prose">
              <Markdown text={answerAsMarkdown(message, quotingIn(t))} />
            </div>
          )}
        </section>
      ))}
    </div>
  );
}
