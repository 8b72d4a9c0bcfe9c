import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { connect } from './bridge.ts';
import { applyTheme, rememberedTheme } from './settings/apply.ts';
import { restoreView } from './shell/history.ts';
import './ui/base.css';

applyTheme(rememberedTheme());
restoreView();
connect();
const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
