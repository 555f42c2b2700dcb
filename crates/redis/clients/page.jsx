// A page that stores its messages in the browser, and resumes the answer when it is loaded: page.jsx?CHAT&STORES,
// where STORES is `whole` to store an answer at its end, or `parts` to store it while it is written.
import { Chat, useChat } from '@ai-sdk/react';
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

const [id, stores] = location.search.slice(1).split('&');

function Page() {
  const stored = JSON.parse(localStorage.getItem(id) ?? '[]');
  // As the guide has it.
  const onError = (error) => { if (error instanceof TypeError) setTimeout(() => setChat(({ messages }) => open(messages)), 500); };
  const open = (messages) => new Chat({ id, messages, onError });
  const [chat, setChat] = useState(() => open(stored));
  const { messages, status, error, sendMessage, stop } = useChat({ chat, resume: true });
  useEffect(() => {
    if (stores === 'parts' || status !== 'streaming') localStorage.setItem(id, JSON.stringify(messages));
  }, [messages, status]);
  // As the guide has it.
  const cancel = () => { fetch(`/api/chat/${id}/stop`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' }); stop(); };
  const submit = (event) => {
    event.preventDefault();
    sendMessage({ text: event.target.prompt.value });
  };
  return (
    <main>
      {messages.map(({ id, role, parts }) => (
        <p key={id} className={role}>
          {parts.map((part) => part.text)}
        </p>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={submit}>
        <input name="prompt" />
        <button disabled={status !== 'ready'}>Send</button>
        <button type="button" disabled={status === 'ready'} onClick={cancel}>Stop</button>
        <output>{status}</output>
      </form>
    </main>
  );
}

createRoot(document.body).render(<Page />);
