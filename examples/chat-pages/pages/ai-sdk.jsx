// A chat page on `useChat` of the AI SDK.
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, WebSocketChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Chart } from './chart.jsx';
import { Chat, Question, Source, Table, Text, Tool, User } from './parts.jsx';
import { runTool } from './tools.js';

// `ai-sdk.html?socket` opens one WebSocket for all turns in place of a request for each.
const transport =
  location.search === '?socket' ? new WebSocketChatTransport({ url: 'ws://127.0.0.1:7777/api/chat' }) : new DefaultChatTransport({ api: 'http://127.0.0.1:7777/api/chat' });

// The page posts by itself once the user has answered every question and all tools have run.
const sendAutomaticallyWhen = (chat) => lastAssistantMessageIsCompleteWithToolCalls(chat) || lastAssistantMessageIsCompleteWithApprovalResponses(chat);

function Page() {
  const [step, setStep] = useState();
  const { messages, status, error, sendMessage, stop, addToolOutput, addToolApprovalResponse } = useChat({
    transport,
    sendAutomaticallyWhen,
    onData: ({ type, data }) => type === 'data-status' && setStep(data.message),
    onFinish: () => setStep(undefined),
    // Not awaited: the page would wait for itself.
    onToolCall: ({ toolCall: { toolName: tool, toolCallId } }) => {
      const [output, errorText] = runTool(tool);
      if (errorText) addToolOutput({ tool, toolCallId, state: 'output-error', errorText });
      else if (output) addToolOutput({ tool, toolCallId, output });
    },
  });
  const busy = status === 'submitted' || status === 'streaming';
  const answer = ({ id }) => (approved) => addToolApprovalResponse({ id, approved });
  return (
    <Chat title="on the AI SDK" busy={busy} step={step} error={error?.message} onSend={(text) => sendMessage({ text })} onStop={stop}>
      {messages.map(({ id, role, parts }, at) =>
        parts.map((part, place) => <Part key={`${id} ${place}`} user={role === 'user'} part={part} open={at === messages.length - 1 && !busy} onAnswer={part.approval && answer(part.approval)} />),
      )}
    </Chat>
  );
}

function Part({ part, user, open, onAnswer }) {
  switch (part.type) {
    case 'text':
      return user ? <User>{part.text}</User> : <Text>{part.text}</Text>;
    case 'source-url':
    case 'source-document':
      return <Source {...part} />;
    case 'data-table':
      return <Table {...part.data} />;
    case 'data-chart':
      return <Chart {...part.data} />;
    case 'dynamic-tool': {
      const answers = { 'output-available': 'You said yes.', 'output-denied': 'You said no.' };
      const settled = answers[part.state] ?? (open ? undefined : 'Not answered.');
      return part.toolName === 'confirm' && <Question {...part.input} answer={settled} onAnswer={onAnswer} />;
    }
    case 'tool-getTimeZone':
      return <Tool name="getTimeZone" result={part.output ?? part.errorText} failed={part.state === 'output-error'} />;
  }
  return null;
}

createRoot(document.getElementById('page')).render(<Page />);
