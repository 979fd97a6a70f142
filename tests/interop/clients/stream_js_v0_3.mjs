// Read streams with the client of @a2a-js/sdk 0.3: `stream_js_v0_3.mjs BINDING URL...` prints what it read as JSON.

import { ClientFactory } from "@a2a-js/sdk/client";

async function read(url) {
  const texts = [];
  try {
    const client = await new ClientFactory().createFromUrl(`${url}/`);
    const message = { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "x" }] };
    for await (const event of client.sendMessageStream({ message })) {
      texts.push(event.status.message.parts[0].text);
    }
  } catch (error) {
    return { texts, error: String(error) };
  }
  return { texts, error: "" };
}

const read_all = [];
for (const url of process.argv.slice(3)) read_all.push(await read(url));
console.log(JSON.stringify(read_all));
