import { useEffect, useState } from 'react';

const QUARTER = 250;

/** The page's clock, four times a second while `running`. */
export function useNow(running: boolean): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    if (!running) return;
    setNow(performance.now());
    const timer = setInterval(() => setNow(performance.now()), QUARTER);
    return () => clearInterval(timer);
  }, [running]);
  return now;
}
