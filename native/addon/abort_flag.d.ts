/** Set from JavaScript, read by native threads. */
export class AbortFlag {
  constructor();
  set(): void;
  readonly isSet: boolean;
}
