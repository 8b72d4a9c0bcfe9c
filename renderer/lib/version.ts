/** A build that does not know its commit names none. */
export const versionOf = ({ version, commit }: { version: string; commit: string }): string =>
  commit === '' ? version : `${version} (${commit})`;
