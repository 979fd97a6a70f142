// Serve an agent over HTTP and gRPC on free ports of this machine.

import { createServer } from "node:http";

import { Server, ServerCredentials } from "@grpc/grpc-js";
import express from "express";

/**
 * Print the URL as the first line of stdout and serve until a signal.
 *
 * `install` receives the Express application, the gRPC server, the URL and the gRPC address, and adds the agent. The
 * ports are open before the URL is printed.
 */
export async function serve(install) {
  const application = express();
  const http = createServer(application);
  await new Promise((done) => http.listen(0, "127.0.0.1", done));
  const calls = new Server();
  const port = await new Promise((done, failed) =>
    calls.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? failed(error) : done(bound),
    ),
  );
  const url = `http://127.0.0.1:${http.address().port}`;
  install(application, calls, url, `127.0.0.1:${port}`);
  console.log(url);
}
