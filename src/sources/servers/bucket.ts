/** Feeds in a bucket of Amazon S3 or of a compatible store. */
import { S3Store } from "../../replication/s3.ts";
import { TransferFault } from "../../replication/source.ts";
import { type FeedServer, requireName, type SecretOf } from "../feed-server.ts";
import type { BucketSettings } from "../sources-file.ts";

interface BucketConnection extends BucketSettings {
  /** Returns whether a path is that of a feed. */
  readonly fits: (path: string) => boolean;
  readonly stallMs: number;
}

export function bucketServer(
  { location, endpoint, fits, stallMs, ...keys }: BucketConnection,
  secret: SecretOf,
): FeedServer {
  const accessKeyId = secret("s3.accessKeyVariable", keys.accessKeyVariable);
  const secretAccessKey = secret("s3.secretKeyVariable", keys.secretKeyVariable);
  const credentials =
    accessKeyId === undefined || secretAccessKey === undefined ? undefined : { accessKeyId, secretAccessKey };
  const store = new S3Store(new URL(location), { endpoint, credentials, stallMs });
  return {
    list: async () => {
      const files = (await store.list("")).filter(({ path }) => fits(path));
      for (const { path } of files) for (const name of path.split("/")) requireName(name);
      return files;
    },
    open: async (file, _known, signal) => {
      const opened = await store.open(file.path, { offset: 0 }, signal);
      if (opened === undefined) throw new TransferFault(`${store.placeOf(file.path)}: removed while it was fetched.`);
      return { ...file, bytes: opened.bytes, content: opened.content };
    },
  };
}
