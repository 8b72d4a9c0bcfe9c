/** Without the commit if the build does not know it. */
export const versionOf = ({ version, commit }: { version: string; commit: string }): string =>
  commit === '' ? version : `${version} (${commit})`;
