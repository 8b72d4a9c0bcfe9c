import type { ReactNode } from 'react';
import { Icon, type IconName } from '../ui/icon.tsx';

export const Fact = ({ icon, children }: { icon: IconName; children: ReactNode }) => (
  <li className="flex items-center gap-2 text-fg-2 tabular-nums">
    <Icon name={icon} className="text-fg-3" />
    {children}
  </li>
);
