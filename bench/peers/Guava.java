/*
 * The Java peer of the benchmark: Guava's BloomFilter of byte arrays. Started by guava.c as
 *
 *     java -cp guava.jar Guava.java URLS ASKS ERROR < lines
 *
 * The lines are the URLs to add, then ASKS URLs that were added, then ASKS URLs that were not. Making the byte arrays
 * is not timed. The first lines are also added to a filter that is thrown away, so that the compiler has done its work
 * before. Prints ns to create the filter, to add, to look up present URLs and absent ones; its bytes; how many URLs
 * were "present" when added; and how many absent ones were falsely found.
 */
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

@SuppressWarnings("UnstableApiUsage")
public class Guava {
    private static final int CHUNK = 32768;
    private static final int WARM_UP = 400000;

    private final InputStream in = System.in;
    private final byte[] buffer = new byte[1 << 20];
    private final byte[][] urls = new byte[CHUNK][];
    private int at, end;
    private long nanoseconds;

    private byte[] line() throws IOException {
        byte[] line = new byte[0];
        while (true) {
            if (at == end) {
                at = 0;
                end = in.read(buffer);
                if (end <= 0)
                    throw new IOException("fewer lines than announced");
            }
            int stop = at;
            while (stop < end && buffer[stop] != '\n')
                stop++;
            int before = line.length;
            line = Arrays.copyOf(line, before + stop - at);
            System.arraycopy(buffer, at, line, before, stop - at);
            at = stop;
            if (stop < end) {
                at++;
                return line;
            }
        }
    }

    private void fill(int count) throws IOException {
        for (int i = 0; i < count; i++)
            urls[i] = line();
    }

    private static long put(BloomFilter<byte[]> filter, byte[][] urls, int count) {
        long seen = 0;
        for (int i = 0; i < count; i++)
            seen += filter.put(urls[i]) ? 0 : 1;
        return seen;
    }

    private static long ask(BloomFilter<byte[]> filter, byte[][] urls, int count) {
        long seen = 0;
        for (int i = 0; i < count; i++)
            seen += filter.mightContain(urls[i]) ? 1 : 0;
        return seen;
    }

    /* Returns how many of the next lines were present, and leaves the time in nanoseconds. */
    private long job(BloomFilter<byte[]> filter, BloomFilter<byte[]> warm, long total, boolean adds)
            throws IOException {
        long seen = 0;
        nanoseconds = 0;
        for (long done = 0; done < total; done += CHUNK) {
            int count = (int) Math.min(CHUNK, total - done);
            fill(count);
            if (warm != null && done == 0)
                for (int i = 0; i < WARM_UP / count + 1; i++) {
                    put(warm, urls, count);
                    ask(warm, urls, count);
                }
            long start = System.nanoTime();
            seen += adds ? put(filter, urls, count) : ask(filter, urls, count);
            nanoseconds += System.nanoTime() - start;
        }
        return seen;
    }

    public static void main(String[] arguments) throws IOException {
        long n = Long.parseLong(arguments[0]), asks = Long.parseLong(arguments[1]);
        double error = Double.parseDouble(arguments[2]);
        Guava guava = new Guava();
        long start = System.nanoTime();
        BloomFilter<byte[]> filter = BloomFilter.create(Funnels.byteArrayFunnel(), n, error);
        double create = (double) (System.nanoTime() - start) / n;
        BloomFilter<byte[]> warm = BloomFilter.create(Funnels.byteArrayFunnel(), CHUNK, error);

        long lost = guava.job(filter, warm, n, true);
        double add = (double) guava.nanoseconds / n;
        if (guava.job(filter, null, asks, false) != asks)
            throw new IOException("it forgot some");
        double present = (double) guava.nanoseconds / asks;
        long wrong = guava.job(filter, null, asks, false);
        double absent = (double) guava.nanoseconds / asks;
        /* Computed as the class does, because it does not tell. */
        long bytes = (long) Math.ceil(-n * Math.log(error) / (Math.log(2) * Math.log(2)) / 64) * 8;
        System.out.println(String.format("%s %s %s %s %d %d %d", create, add, present, absent, bytes, lost, wrong));
    }
}
