export const Key = ({ children }: { children: string }) => (
  <kbd className="inline-flex h-4.5 min-w-4.5 items-center justify-center rounded-xs bg-hover in-data-[selected=true]:bg-raised px-1 font-sans text-2xs font-medium whitespace-nowrap text-fg-2">
    {children}
  </kbd>
);
