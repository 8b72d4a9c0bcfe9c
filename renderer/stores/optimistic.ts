import type { Settings } from '../../app/protocol/index.ts';

//  What was changed here stands until the core has confirmed it: what it says meanwhile was said before it knew.

/** `held`: what the core said last. `sent`: changes that it has not answered, oldest first. */
export type Unconfirmed = { held: Settings; sent: readonly Partial<Settings>[] };

export const shownSettings = ({ held, sent }: Unconfirmed): Settings => Object.assign({}, held, ...sent);

export const withSent = (state: Unconfirmed, patch: Partial<Settings>): Unconfirmed => ({
  ...state,
  sent: [...state.sent, patch],
});

/** The core answered a change: with all that it holds now, or with a refusal. */
export const withAnswer = (state: Unconfirmed, patch: Partial<Settings>, held = state.held): Unconfirmed => ({
  held,
  sent: state.sent.filter((other) => other !== patch),
});
