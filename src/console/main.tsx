/** The console (docs/design/console.md). */
import './styles/base.css';
import './styles/layout.css';
import './styles/parts.css';
import './styles/scroll-hint.css';
import { render } from 'preact';
import { App } from './shell/app.tsx';

const place = document.getElementById('app');
if (place === null) throw new Error('the page has no place for the console');
render(<App />, place);
