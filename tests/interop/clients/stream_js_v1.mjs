// Read streams with the client of @a2a-js/sdk 1.x: `stream_js_v1.mjs BINDING URL...` prints what it read as JSON.

import { ClientFactory } from "@a2a-js/sdk/client";
import { Role } from "@a2a-js/sdk";

async function read(url) {
  const texts = [];
  try {
    const client = await new ClientFactory().createFromUrl(`${url}/`);
    const message = { messageId: "m", role: Role.ROLE_USER, parts: [{ content: { $case: "text", value: "x" } }] };
    for await (const event of client.sendMessageStream({ message })) {
      texts.push(event.payload.value.status.message.parts[0].content.value);
    }
  } catch (error) {
    return { texts, error: String(error) };
  }
  return { texts, error: "" };
}

const read_all = [];
for (const url of process.argv.slice(3)) read_all.push(await read(url));
console.log(JSON.stringify(read_all));
