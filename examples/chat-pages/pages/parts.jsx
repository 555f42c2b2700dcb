// What both pages show, whatever the protocol.
import { useState } from 'react';
import Markdown from 'react-markdown';

const PROMPTS = ['What are the tides?', 'Read my clock', 'Delete the log', 'Count the ships', 'Fail'];

/** The frame of a chat: messages, the running step, errors, and the line to type in. */
export function Chat({ title, busy, locked, step, error, onSend, onStop, children }) {
  const [text, setText] = useState('');
  const send = (text) => {
    if (busy || locked || !text.trim()) return;
    onSend(text);
    setText('');
  };
  const submit = (event) => {
    event.preventDefault();
    send(text);
  };
  return (
    <>
      <header>
        <a href="index.html">Chat pages</a> {title}
      </header>
      <main>
        <div role="log">
          {children}
          {busy && <p className="step">{step ?? 'Answering'} …</p>}
          {error && <p role="alert">{error}</p>}
        </div>
      </main>
      <footer>
        <nav>
          {PROMPTS.map((prompt) => (
            <button key={prompt} type="button" disabled={busy || locked} onClick={() => send(prompt)}>
              {prompt}
            </button>
          ))}
        </nav>
        <form onSubmit={submit}>
          <input value={text} onChange={(event) => setText(event.target.value)} aria-label="Message" placeholder={locked ? 'Answer the question first' : 'Message'} />
          {busy ? (
            <button type="button" className="stop" onClick={onStop}>
              Stop
            </button>
          ) : (
            <button disabled={locked}>Send</button>
          )}
        </form>
      </footer>
    </>
  );
}

export const User = ({ children }) => <p className="user">{children}</p>;

export const Text = ({ children }) => (
  <div className="text">
    <Markdown>{children}</Markdown>
  </div>
);

export const Tool = ({ name, result, failed }) => (
  <p className={failed ? 'tool failed' : 'tool'}>
    {name}: {result === undefined ? 'running in your browser …' : `${result}`}
  </p>
);

export const Source = ({ title, url }) => (
  <p className="source">
    Source: {url ? <a href={url} target="_blank" rel="noreferrer">{title ?? url}</a> : title}
  </p>
);

/** A question with two buttons, or with the answer once there is one. */
export const Question = ({ title, message, answer, onAnswer }) => (
  <section className="card question">
    <h2>{title}</h2>
    <p>{message}</p>
    {answer ? (
      <p className="step">{answer}</p>
    ) : (
      <>
        <button onClick={() => onAnswer(true)}>Yes</button> <button onClick={() => onAnswer(false)}>No</button>
      </>
    )}
  </section>
);

export function Table({ name, rows }) {
  const columns = [...new Set(rows.flatMap(Object.keys))];
  return (
    <section className="card">
      <h2>{name}</h2>
      <div className="wide">
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} className={typeof rows[0]?.[column]}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at}>
                {columns.map((column) => (
                  <td key={column} className={typeof row[column]}>
                    {`${row[column] ?? ''}`}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
