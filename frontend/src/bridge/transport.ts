// The page's only way to the app: requests to its own origin, which the window answers in process. Nothing else
// in the page calls fetch.
import { newClient, type Answer, type Calls, type Refusal, type Transport } from "../gen/verbs";
import { Lines } from "./lines";

/** A failure that is no answer of the app: the request itself did not go through. */
export class Unreachable extends Error {
  constructor(what: string) {
    super(`termic did not answer (${what})`);
    this.name = "Unreachable";
  }
}

async function post(path: string, body: BodyInit | null): Promise<Response> {
  try {
    return await fetch(path, { method: "POST", body, cache: "no-store" });
  } catch (cause) {
    throw new Unreachable(cause instanceof Error ? cause.message : String(cause));
  }
}

/** Returns the answer in a response, or throws Unreachable. */
async function answerOf(response: Response): Promise<Answer<unknown>> {
  if (!response.ok) throw new Unreachable(`status ${response.status}`);
  return (await response.json()) as Answer<unknown>;
}

const transport: Transport = async (verb, args) => answerOf(await post(`/call/${verb}`, JSON.stringify(args)));

/** Calls verbs as the person at the window. */
export const app = newClient(transport);

/** A call that tells how far it has come and can be given up. */
export interface Watched {
  calls: Calls;
  /** Gives the call up; what the app then undoes, it undoes as for a caller that went away. */
  cancel(): Promise<void>;
}

/** Calls one verb; say is told meanwhile, in a few words, how far it has come. */
export function watched(say: (text: string) => void): Watched {
  const id = crypto.randomUUID();
  let over = false;
  const told: Transport = async (verb, args) => {
    try {
      return await lastLine(await post(`/call/${verb}?call=${id}`, JSON.stringify(args)), say);
    } finally {
      over = true;
    }
  };
  const cancel = async () => {
    // The call itself may be on its way still.
    while (!over && !(await post(`/cancel/${id}`, null)).ok) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  return { calls: newClient(told), cancel };
}

/** Returns the answer, which is the last line of a response, and tells what comes before. */
async function lastLine(response: Response, say: (text: string) => void): Promise<Answer<unknown>> {
  if (!response.ok || !response.body) throw new Unreachable(`status ${response.status}`);
  const lines = new Lines();
  const reader = response.body.getReader();
  let last: (Answer<unknown> & { progress?: string }) | undefined;
  for (;;) {
    const { value, done } = await reader.read();
    for (const line of lines.push(done ? new TextEncoder().encode("\n") : value)) {
      last = JSON.parse(line) as Answer<unknown> & { progress?: string };
      if (last.progress !== undefined) say(last.progress);
    }
    if (done) break;
  }
  if (last === undefined || last.progress !== undefined) throw new Unreachable("its answer broke off");
  return last;
}

/** Asks the window itself for what no verb covers; see app/gui. Throws Unreachable, or the refusal's reason. */
export async function host(act: "pick-directory" | "open-url" | "renderer" | "quit" | "stay" | "in-view" | "report", text = ""): Promise<string> {
  const answer = await answerOf(await post(`/host/${act}`, JSON.stringify(text)));
  if (answer.refusal) throw new Error(answer.refusal.reason);
  return String(answer.result ?? "");
}

/** Opens a streamed response. The promise settles when its header is there. */
export async function stream(path: string, signal: AbortSignal): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const response = await fetch(path, { signal, cache: "no-store" });
  if (!response.ok || !response.body) {
    const refusal = (await response.json().catch(() => undefined)) as Refusal | undefined;
    throw new Error(refusal?.reason ?? `status ${response.status}`);
  }
  return response.body.getReader();
}

/** Sends bytes that need no answer but that they arrived. */
export async function send(path: string, body: BodyInit | null = null): Promise<void> {
  const response = await post(path, body);
  if (response.ok) return;
  const refusal = (await response.json().catch(() => undefined)) as Refusal | undefined;
  throw new Error(refusal?.reason ?? `status ${response.status}`);
}

/** Says in one sentence what went wrong, with what to do about it where that is known. */
export function explain(error: unknown): string {
  if (error instanceof Error && "refusal" in error) {
    const { reason, remedy } = error.refusal as Refusal;
    return sentence(remedy ? `${reason}: ${remedy}` : reason);
  }
  return sentence(error instanceof Error ? error.message : String(error));
}

/** Begins with a capital and ends with a period. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return "";
  const first = trimmed[0]!.toUpperCase() + trimmed.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}
