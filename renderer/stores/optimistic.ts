import type { Settings } from '../../app/protocol/index.ts';

//  A local change stands until the core has confirmed it: settings events in between do not include it yet.

/** `held`: the core's last known settings. `sent`: unconfirmed changes, oldest first. */
export type Optimistic = { held: Settings; sent: readonly Partial<Settings>[] };

export const shownSettings = ({ held, sent }: Optimistic): Settings => Object.assign({}, held, ...sent);

export const withSent = (state: Optimistic, patch: Partial<Settings>): Optimistic => ({
  ...state,
  sent: [...state.sent, patch],
});

/** Applies the core's response to a change: all its settings now, or a refusal. */
export const withAnswer = (state: Optimistic, patch: Partial<Settings>, held = state.held): Optimistic => ({
  held,
  sent: state.sent.filter((other) => other !== patch),
});
