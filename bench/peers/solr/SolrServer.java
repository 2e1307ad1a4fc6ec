import org.apache.solr.embedded.JettyConfig;
import org.apache.solr.embedded.JettySolrRunner;

/** Serves a Solr home on a free port of the loopback interface. Prints `listening on URL` once all cores are loaded. */
public final class SolrServer {
  public static void main(String[] arguments) throws Exception {
    JettySolrRunner server = new JettySolrRunner(arguments[0], JettyConfig.builder().setPort(0).build());
    server.start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server)));
    System.out.println("listening on " + server.getBaseUrl());
  }

  /** Closes the cores, so that no index keeps its lock. */
  private static void stop(JettySolrRunner server) {
    try {
      server.stop();
    } catch (Exception thrown) {
      thrown.printStackTrace();
    }
  }
}
