import {
  ArrowDown,
  ArrowUp,
  Book,
  BookOpen,
  ChartLine,
  Check,
  ChevronDown,
  ChevronLeft,
  ChevronRight,
  ChevronsUpDown,
  ChevronUp,
  CircleDashed,
  Clock,
  Contrast,
  Copy,
  Cpu,
  Download,
  Ellipsis,
  File,
  FileCode,
  FileText,
  FileType,
  Folder,
  FolderOpen,
  FoldVertical,
  GitBranch,
  Globe,
  HardDrive,
  Image,
  Info,
  Keyboard,
  Layers,
  type LucideIcon,
  Mail,
  MessageSquare,
  PanelLeft,
  PanelRight,
  Pause,
  Pencil,
  Pin,
  Play,
  Plus,
  Presentation,
  Printer,
  Repeat,
  Rewind,
  RotateCw,
  Search,
  Server,
  Settings,
  ShieldCheck,
  SlidersHorizontal,
  Square,
  SquareArrowOutUpRight,
  SquarePen,
  Sun,
  Table,
  Trash2,
  TriangleAlert,
  Wrench,
  X,
  Zap,
  ZoomIn,
  ZoomOut,
} from 'lucide-react';

const icons = {
  answer: Zap,
  attach: Plus,
  back: ChevronLeft,
  book: Book,
  branch: GitBranch,
  chat: MessageSquare,
  check: Check,
  clock: Clock,
  close: X,
  code: FileCode,
  collection: Folder,
  copy: Copy,
  print: Printer,
  delete: Trash2,
  documents: BookOpen,
  down: ChevronDown,
  download: Download,
  drive: HardDrive,
  edit: Pencil,
  end: ArrowDown,
  engine: Cpu,
  file: File,
  fold: FoldVertical,
  folder: FolderOpen,
  forward: ChevronRight,
  half: Contrast,
  image: Image,
  info: Info,
  keys: Keyboard,
  loop: Repeat,
  mail: Mail,
  models: Layers,
  more: Ellipsis,
  new: SquarePen,
  open: CircleDashed,
  out: SquareArrowOutUpRight,
  page: FileText,
  panel: PanelRight,
  pause: Pause,
  pdf: FileType,
  performance: ChartLine,
  pick: ChevronsUpDown,
  pin: Pin,
  play: Play,
  privacy: ShieldCheck,
  retry: RotateCw,
  rewind: Rewind,
  sampling: SlidersHorizontal,
  search: Search,
  send: ArrowUp,
  server: Server,
  settings: Settings,
  sidebar: PanelLeft,
  slides: Presentation,
  stop: Square,
  sun: Sun,
  table: Table,
  tool: Wrench,
  up: ChevronUp,
  warning: TriangleAlert,
  web: Globe,
  zoomIn: ZoomIn,
  zoomOut: ZoomOut,
} as const satisfies Record<string, LucideIcon>;

export type IconName = keyof typeof icons | 'pen';

type IconProps = { name: IconName; size?: 14 | 16 | 20; className?: string };

/** A margin around Lucide's drawings, so that a 16 px icon has the visual weight of the text beside it. */
const FRAME = '-1.5 -1.5 27 27';
const FRAME_SIZE = 27;

/** 16 px, stroke 1.35, round ends; 14 inside buttons and figures, 20 in cards. Always beside a name, so hidden from readers. */
export function Icon({ name, size = 16, className = '' }: IconProps) {
  if (name === 'pen') return <PenStroke size={size} className={className} />;
  const Drawing = icons[name];
  return (
    <Drawing
      size={size}
      viewBox={FRAME}
      strokeWidth={(1.35 * FRAME_SIZE) / size}
      aria-hidden
      className={`block flex-none ${className}`}
      style={{ width: `${size / 16}rem`, height: `${size / 16}rem` }}
    />
  );
}

function PenStroke({ size, className }: { size: number; className: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.35}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden
      className={`block flex-none ${className}`}
      style={{ width: `${size / 16}rem`, height: `${size / 16}rem` }}
    >
      <path d="M1.6 11.4c2.7-.5 5.3-4.6 4.9-6.9-.3-1.4-1.8-.9-2.2.8-.7 3 .2 6.2 2.2 6.2 2.3 0 4.4-3.5 4.1-5.4-.2-1.3-1.6-.9-1.9.5-.5 2.3.3 4.9 2.1 4.9 1.4 0 2.5-1 3.6-2.4" />
    </svg>
  );
}

/** The double loop at the size of a page: the same stroke as resources/icons/longhand.svg. */
export function Mark() {
  return (
    <svg
      viewBox="0 0 56 40"
      fill="none"
      stroke="currentColor"
      strokeWidth={3}
      strokeLinecap="round"
      aria-hidden
      className="block h-10 w-14 text-ink-text"
    >
      <path d="M4 33c10-2 20-15 18.6-24C22 4 16.4 5.6 14.8 12 12 23 15.4 34.6 23 34.6c9 0 17-12.6 16-20.4-.8-5-6.2-3.4-7.4 2-2 8.8 1.2 18.4 8.4 18.4 5.2 0 9-3.6 12-8.6" />
    </svg>
  );
}
