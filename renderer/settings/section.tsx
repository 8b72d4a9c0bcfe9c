import type { ReactNode } from 'react';
import { Card } from '../ui/field.tsx';

/** A titled card of rows. */
export function Section({ title, children, note }: { title: string; children: ReactNode; note?: ReactNode }) {
  return (
    <section aria-label={title} className="not-first:mt-9">
      <h2 className="text-lg font-semibold tracking-tight">{title}</h2>
      <Card className="mt-3.5">{children}</Card>
      {note && <div className="mt-3.5 px-1 text-xs text-fg-3">{note}</div>}
    </section>
  );
}
