// A chat page on the AG-UI client.
import { HttpAgent } from '@ag-ui/client';
import { Fragment, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Chart } from './chart.jsx';
import { Chat, Question, Source, Table, Text, Tool, User } from './parts.jsx';
import { TOOLS, runTool } from './tools.js';

const agent = new HttpAgent({ url: 'http://127.0.0.1:7777/agui' });

function Page() {
  const [messages, setMessages] = useState([]);
  const [sources, setSources] = useState({});
  const [busy, setBusy] = useState(false);
  const [step, setStep] = useState();
  const [error, setError] = useState();
  useEffect(() => agent.subscribe({ onMessagesChanged: ({ messages }) => setMessages([...messages]) }).unsubscribe, []);

  /** Runs the agent, and again with the results of the tools that it has called. */
  const run = async (parameters) => {
    let calls = [];
    setBusy(true);
    setError(undefined);
    try {
      await agent.runAgent(
        { tools: TOOLS, ...parameters },
        {
          onStepStartedEvent: ({ event }) => setStep(event.stepName),
          onStepFinishedEvent: () => setStep(undefined),
          onCustomEvent: ({ event, messages }) => {
            if (event.name === 'citations') setSources((all) => ({ ...all, [messages.at(-1).id]: event.value }));
          },
          // `abort` is the client's own: the user stopped the run.
          onRunErrorEvent: ({ event }) => void (event.code === 'abort' || setError(event.message)),
          onRunFinishedEvent: ({ pendingToolCallIds = [] }) => void (calls = pendingToolCallIds),
        },
      );
    } catch (error) {
      setError(error.message);
    }
    setStep(undefined);
    setBusy(false);
    for (const id of calls) agent.addMessage(resultOf(id));
    if (calls.length > 0) await run();
  };
  const send = (content) => {
    agent.addMessage({ id: crypto.randomUUID(), role: 'user', content });
    run();
  };
  const [question] = busy ? [] : agent.pendingInterrupts;
  const answer = (accepted) => run({ resume: [{ interruptId: question.id, status: 'resolved', payload: { accepted } }] });
  return (
    <Chat title="on AG-UI" busy={busy} locked={Boolean(question)} step={step} error={error} onSend={send} onStop={() => agent.abortRun()}>
      {messages.map((message) => (
        <Fragment key={message.id}>
          <Message message={message} />
          {sources[message.id]?.map((source, at) => <Source key={at} {...source} />)}
        </Fragment>
      ))}
      {question && <Question {...question.metadata} onAnswer={answer} />}
    </Chat>
  );
}

const nameOf = (id) => agent.messages.flatMap(({ toolCalls = [] }) => toolCalls).find((call) => call.id === id)?.function.name;

/** Runs the tool of a call. Its result is a message. */
function resultOf(toolCallId) {
  const [output, error = `there is no tool ${nameOf(toolCallId)}`] = runTool(nameOf(toolCallId));
  const message = { id: crypto.randomUUID(), role: 'tool', toolCallId };
  return output ? { ...message, content: output } : { ...message, content: '', error };
}

function Message({ message: { role, content, toolCallId, error, activityType } }) {
  if (role === 'user') return <User>{content}</User>;
  if (role === 'assistant') return content ? <Text>{content}</Text> : null;
  if (role === 'tool') return <Tool name={nameOf(toolCallId)} result={error ?? content} failed={Boolean(error)} />;
  if (activityType === 'table') return <Table {...content} />;
  if (activityType === 'chart') return <Chart {...content} />;
  return null;
}

createRoot(document.getElementById('page')).render(<Page />);
