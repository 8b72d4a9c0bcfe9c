import { Component, type ReactNode } from 'react';

export type Broken = {
  error: Error;
  /** React's component stack. */
  place: string;
  /** Tries to render again. */
  again: () => void;
};

type BoundaryProps = {
  /** A new value renders again: another page, another state of the same message. */
  subject: string;
  /** Called once, when rendering fails. */
  onBroken?: () => void;
  fallback: (broken: Broken) => ReactNode;
  children: ReactNode;
};

type State = { subject: string; error: Error | null; place: string };

const sound = { error: null, place: '' };

/** An error boundary: everything outside stays as it is. */
export class Boundary extends Component<BoundaryProps, State> {
  override state: State = { subject: this.props.subject, ...sound };

  static getDerivedStateFromProps({ subject }: BoundaryProps, state: State): State | null {
    return subject === state.subject ? null : { subject, ...sound };
  }

  static getDerivedStateFromError(thrown: unknown): Partial<State> {
    return { error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }

  override componentDidCatch(_: unknown, { componentStack }: { componentStack?: string | null }) {
    this.setState({ place: componentStack ?? '' });
    this.props.onBroken?.();
  }

  again = () => this.setState(sound);

  override render() {
    const { error, place } = this.state;
    return error ? this.props.fallback({ error, place, again: this.again }) : this.props.children;
  }
}
